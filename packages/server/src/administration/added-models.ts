import type { DefaultModelChange, ModelProviderChange } from '@inlay/protocol/administration'

/** A provider of models that an administrator added. */
export interface AddedProvider {
  readonly id: number
  readonly name: string
  readonly baseUrl: string | null
  readonly hasKey: boolean
}

/** Lets administrators add language models beside those of the configuration. */
export interface ModelAdministration {
  list(): Promise<readonly AddedProvider[]>
  /**
   * Adds or changes a provider, from the next message on.
   * @param isNew whether it must not exist yet; otherwise it must
   * @returns its id
   * @throws NOT_FOUND, DUPLICATE_RESOURCE, VALIDATION_ERROR; NOT_IMPLEMENTED for a key that could not be encrypted
   */
  save(change: ModelProviderChange, isNew: boolean): Promise<number>
  /** @throws NOT_FOUND; VALIDATION_ERROR for the provider of the default model, unless forced */
  remove(id: number, isForced: boolean): Promise<void>
  /** Lets a model answer by default. @throws VALIDATION_ERROR for a model that is neither added nor the configured default */
  chooseDefault(choice: DefaultModelChange): Promise<void>
}
