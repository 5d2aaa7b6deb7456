import type { ModelProvider } from '@inlay/agent'
import { must, mustEqual, mustReject, type ConformanceTest } from '../contract.ts'

/** Returns the provider to test; called for each test. */
export type MakeModelProvider = () => ModelProvider | Promise<ModelProvider>

const nobody = 'no such thing / nobody makes it'

/**
 * Requirements of every `ModelProvider`, as a list for any test runner. No model is called.
 * @param options `takesAnyName`: whether the provider has no list of models and accepts any name
 * @example for (const [title, run] of modelProviderConformance(make)) test(title, run)
 */
export function modelProviderConformance(
  make: MakeModelProvider,
  options: { readonly takesAnyName?: boolean } = {},
): ConformanceTest[] {
  return [
    [
      'one of the models it lists is the default, and a request that asks for none gets it',
      async () => {
        const provider = await make()
        const listed = await provider.list()
        const byDefault = listed.filter(({ isDefault }) => isDefault)
        must(byDefault.length === 1, 'one model is the default')
        for (const override of [undefined, null, {}]) {
          const { provider: name, name: model } = await provider.resolve(override)
          mustEqual([name, model], [byDefault[0]?.provider, byDefault[0]?.name], 'the model of such a request')
        }
      },
    ],
    [
      'each model it lists is found by its provider and its name, and is what the list says',
      async () => {
        const provider = await make()
        const listed = await provider.list()
        const names = listed.map((listing) => JSON.stringify([listing.provider, listing.name]))
        must(new Set(names).size === names.length, 'no model is listed twice')
        for (const { provider: owner, name, displayName, contextTokens, takesImages } of listed) {
          const model = await provider.resolve({ model_provider: owner, model_version: name })
          const { model: _, ...said } = model
          mustEqual(
            [said.provider, said.name, said.displayName, said.contextTokens, said.takesImages],
            [owner, name, displayName, contextTokens, takesImages],
            'what was found',
          )
          must(Number.isSafeInteger(contextTokens) && contextTokens > 0, 'the context is a whole number of tokens')
          must(model.model.specificationVersion === 'v4', 'the model is one of the AI SDK, version 4')
        }
      },
    ],
    ...requestTests(make, options),
  ]
}

function requestTests(make: MakeModelProvider, options: { readonly takesAnyName?: boolean }): ConformanceTest[] {
  return [
    [
      'what it does not have is refused, never replaced',
      async () => {
        const provider = await make()
        const [first] = await provider.list()
        const unknownProvider = { model_provider: nobody, model_version: first?.name }
        await mustReject(() => provider.resolve(unknownProvider), 'VALIDATION_ERROR', 'an unknown provider')
        if (options.takesAnyName) return
        const unknownModels = [{ model_version: nobody }, { model_provider: first?.provider, model_version: nobody }]
        for (const override of unknownModels)
          await mustReject(() => provider.resolve(override), 'VALIDATION_ERROR', 'an unknown model')
      },
    ],
    [
      'the temperature asked for is the one of that request alone',
      async () => {
        const provider = await make()
        const [warm, cold, plain] = await Promise.all([
          provider.resolve({ temperature: 0.9 }),
          provider.resolve({ temperature: 0 }),
          provider.resolve(),
        ])
        mustEqual([warm.temperature, cold.temperature], [0.9, 0], 'temperatures')
        must(plain.temperature !== 0.9, 'a request that asks for none has none of another')
      },
    ],
  ]
}
