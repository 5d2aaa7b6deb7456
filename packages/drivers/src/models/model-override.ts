import type { ModelListing } from '@inlay/agent'
import { InlayError, type LlmOverride } from '@inlay/protocol'
import type { ModelConfig, ProviderConfig } from './model-config.ts'

/** A provider as far as a choice among its models is concerned. */
export interface OfferingProvider {
  readonly config: ProviderConfig
  /** Undefined when it takes any name. */
  readonly models: readonly ModelConfig[] | undefined
  readonly defaultModel: string | undefined
}

export interface OfferedModels<Provider extends OfferingProvider> {
  readonly providers: ReadonlyMap<string, Provider>
  /** The default provider. */
  readonly usual: Provider
  readonly list: () => readonly ModelListing[]
}

export function invalid(message: string): InlayError {
  return new InlayError('VALIDATION_ERROR', { message })
}

/** @throws VALIDATION_ERROR for an unavailable combination */
export function chooseModel<Provider extends OfferingProvider>(
  override: LlmOverride,
  { providers, usual, list }: OfferedModels<Provider>,
): readonly [Provider, string] {
  if (typeof override.model_configuration_id === 'number') {
    const listed = list()[override.model_configuration_id - 1]
    const provider = providers.get(listed?.provider ?? '')
    if (!listed || !provider) throw invalid('No model has this configuration id.')
    return [provider, listed.name]
  }
  const provider = override.model_provider ? providers.get(override.model_provider) : usual
  if (!provider) throw invalid('No model provider has this name.')
  const version = override.model_version || provider.defaultModel
  if (version === undefined)
    throw invalid(`A request to the model provider "${provider.config.name}" has to name a model version.`)
  if (provider.models && !provider.models.some((model) => model.name === version))
    throw invalid(`The model provider "${provider.config.name}" does not offer this model version.`)
  return [provider, version]
}

/** @throws VALIDATION_ERROR for a temperature that models of the provider do not take */
export function checkTemperature(temperature: number, type: ProviderConfig['type']): number {
  const most = type === 'anthropic' ? 1 : 2
  if (temperature >= 0 && temperature <= most) return temperature
  throw invalid(`The temperature for this model has to be between 0 and ${most}.`)
}
