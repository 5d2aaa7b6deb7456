import type { LocalModelChange, LocalModels } from '@inlay/protocol/administration'

/** Lets administrators select a language model that runs on the same machine. */
export interface LocalModelAdministration {
  list(): Promise<LocalModels>
  /**
   * Selects the model, starting with the next message.
   * @param choice null: the built-in model
   * @throws NOT_FOUND when the model is not running
   */
  choose(choice: LocalModelChange['choice']): Promise<LocalModels>
}
