import type { LocalModelChange, LocalModels } from '@inlay/protocol/administration'

/** Lets administrators select a language model that runs on the same machine. */
export interface LocalModelAdministration {
  list(): Promise<LocalModels>
  /** From the next message on. @param choice null: the built-in model @throws NOT_FOUND when it is not running */
  choose(choice: LocalModelChange['choice']): Promise<LocalModels>
}
