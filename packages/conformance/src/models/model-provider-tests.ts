import type { ModelListing, ModelProvider } from '@inlay/agent'
import { must, mustEqual, mustReject, toTests, type Checks, type ConformanceTest } from '../contract.ts'

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
  return toTests(checks, async (check) => check({ ...options, provider: await make() }))
}

const checks: Checks<{ readonly provider: ModelProvider; readonly takesAnyName?: boolean }> = {
  async 'one of the models it lists is the default, and a request that asks for none gets it'({ provider }) {
    const listed = await provider.list()
    const byDefault = listed.filter(({ isDefault }) => isDefault)
    must(byDefault.length === 1, 'one model is the default')
    for (const override of [undefined, null, {}]) {
      const { provider: name, name: model } = await provider.resolve(override)
      mustEqual([name, model], [byDefault[0]?.provider, byDefault[0]?.name], 'the model of such a request')
    }
  },
  async 'each model it lists is found by its provider and its name, and is what the list says'({ provider }) {
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
  async 'what it does not have is refused, never replaced'({ provider, takesAnyName }) {
    const [first] = await provider.list()
    const unknownProvider = { model_provider: nobody, model_version: first?.name }
    await mustReject(() => provider.resolve(unknownProvider), 'VALIDATION_ERROR', 'an unknown provider')
    if (takesAnyName) return
    const unknownModels = [{ model_version: nobody }, { model_provider: first?.provider, model_version: nobody }]
    for (const override of unknownModels)
      await mustReject(() => provider.resolve(override), 'VALIDATION_ERROR', 'an unknown model')
  },
  async 'the temperature asked for is the one of that request alone'({ provider }) {
    const ofRequest = async (temperature?: number | null): Promise<number | undefined> =>
      (await provider.resolve({ temperature })).temperature
    const plain = (await provider.resolve()).temperature
    const temperatures = [0.9, undefined, 0, undefined, null, 0.4, undefined]
    const expected = temperatures.map((temperature) => temperature ?? plain)
    const inTurn: unknown[] = []
    for (const temperature of temperatures) inTurn.push(await ofRequest(temperature))
    mustEqual(inTurn, expected, 'temperatures of one request after the other')
    mustEqual(await Promise.all(temperatures.map(ofRequest)), expected, 'temperatures of requests side by side')
  },
  async 'models asked for side by side do not mix, and none becomes the default'({ provider }) {
    const listed = await provider.list()
    const nameOf = ({ provider: owner, name }: Pick<ModelListing, 'provider' | 'name'>): unknown => [owner, name]
    const models = await Promise.all(
      listed.map(({ provider: owner, name }) => provider.resolve({ model_provider: owner, model_version: name })),
    )
    mustEqual(models.map(nameOf), listed.map(nameOf), 'models')
    const plain = nameOf(await provider.resolve())
    mustEqual([plain], listed.filter(({ isDefault }) => isDefault).map(nameOf), 'the default afterwards')
  },
}
