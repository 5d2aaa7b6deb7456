import { modelProviderConformance } from '@inlay/conformance'
import { describe, test } from 'vitest'
import { builtInModel } from '@inlay/extractive'
import { modelProviders, type ModelProvidersConfig, type ProviderConfig } from '@inlay/drivers/model-providers'

const openAi: ProviderConfig = { name: 'openai', type: 'openai', apiKey: 'k', defaultModel: 'gpt-5' }
const ownServer: ProviderConfig = {
  name: 'own',
  type: 'openai-compatible',
  baseUrl: 'http://127.0.0.1:9/v1',
  models: [
    { name: 'small', contextTokens: 8_000 },
    { name: 'large', takesImages: true },
  ],
}

describe.each<[string, ModelProvidersConfig, { takesAnyName?: boolean }]>([
  ['the built-in model', { providers: [{ name: 'inlay', type: 'extractive' }] }, {}],
  ['a provider with a list of models', { providers: [ownServer] }, {}],
  ['a provider that takes any name', { providers: [openAi] }, { takesAnyName: true }],
  ['several providers', { providers: [{ name: 'inlay', type: 'extractive' }, ownServer], defaultProvider: 'own' }, {}],
])('%s', (_name, config, options) => {
  for (const [title, run] of modelProviderConformance(
    () => modelProviders({ ...config, builtIn: builtInModel }),
    options,
  ))
    test(title, run)
})
