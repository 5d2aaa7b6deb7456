import type { LocalModelChange, LocalModels } from '@inlay/protocol/administration'

/** Lets administrators choose among the language models that run on the machine of the server. */
export interface LocalModelAdministration {
  list(): Promise<LocalModels>
  /**
   * Lets a model answer from the next message on.
   * @param choice null: the built-in model
   * @throws NOT_FOUND when no such model runs on the machine now
   */
  choose(choice: LocalModelChange['choice']): Promise<LocalModels>
}
