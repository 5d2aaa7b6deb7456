import { describe, expect, test } from 'vitest'
import { builtInModel } from '@inlay/extractive'
import { modelProviders } from '@inlay/drivers/model-providers'
import { scriptedModel } from '@inlay/agent/testing'
import type { ModelProvider } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import type { LlmOverride } from '@inlay/protocol'
import { ana, ben, codeOf, newSetting, providerOf } from '../../agent/setting.ts'

/** Two models, of which `cold` takes no temperature above 1; remembers what it was asked to resolve. */
function twoModels() {
  const model = scriptedModel(() => ['x'])
  const resolved: (LlmOverride | null | undefined)[] = []
  const models: ModelProvider = {
    resolve: async (override) => {
      resolved.push(override)
      const name = override?.model_version ?? 'warm'
      if (name !== 'warm' && name !== 'cold') throw new InlayError('VALIDATION_ERROR')
      const temperature = override?.temperature ?? undefined
      if (name === 'cold' && (temperature ?? 0) > 1) throw new InlayError('VALIDATION_ERROR')
      return { ...(await providerOf(model).resolve()), name, temperature }
    },
    list: async () =>
      ['warm', 'cold'].map((name) => ({
        provider: 'house',
        providerType: 'openai_compatible',
        providerDisplayName: 'House',
        name,
        displayName: name,
        contextTokens: 100_000,
        takesImages: false,
        isDefault: name === 'warm',
      })),
  }
  return { models, model, resolved }
}

describe('a pinned model', () => {
  test('answers the messages that name none', async () => {
    const { models, resolved } = twoModels()
    const { agent, send } = await newSetting([], { models })
    const { id } = await agent.sessions.create({}, ana)
    await agent.sessions.pinModel(id, 'cold', ana)
    const answered = async (override: LlmOverride | null) => {
      await (await send({ chat_session_id: id, llm_override: override })).whole()
      const { model_version: version, temperature } = resolved.at(-1) ?? {}
      return [version, temperature]
    }
    expect(await answered(null)).toEqual(['cold', null])
    expect(await answered({ temperature: 0.5 })).toEqual(['cold', 0.5])
    expect(await answered({ model_version: 'warm' })).toEqual(['warm', null])
    await agent.sessions.setTemperature(id, 0.2, ana)
    expect(await answered(null)).toEqual(['cold', 0.2])
    expect(await answered({ model_version: 'warm' })).toEqual(['warm', 0.2])
    await agent.sessions.pinModel(id, '', ana)
    expect(await answered(null)).toEqual([undefined, 0.2])
    const session = await agent.sessions.get(id, ana)
    expect(session.messages.at(-1)?.requestParams).toEqual({ model: 'warm', temperature: 0.2 })
  })

  test('is told as it was given, by name or by provider, type and name', async () => {
    const { models, resolved } = twoModels()
    const { agent } = await newSetting([], { models })
    const { id } = await agent.sessions.create({}, ana)
    await agent.sessions.pinModel(id, 'house__openai_compatible__cold', ana)
    expect(resolved.at(-1)).toMatchObject({ model_provider: 'house', model_version: 'cold' })
    expect((await agent.sessions.get(id, ana)).model).toBe('house__openai_compatible__cold')
    await agent.sessions.pinModel(id, 'warm', ana)
    expect((await agent.sessions.list(ana)).sessions[0]?.model).toBe('warm')
  })

  test('has to exist, and the session to be the own', async () => {
    const { models } = twoModels()
    const { agent } = await newSetting([], { models })
    const { id } = await agent.sessions.create({}, ana)
    expect(await codeOf(agent.sessions.pinModel(id, 'hot', ana))).toBe('VALIDATION_ERROR')
    expect(await codeOf(agent.sessions.pinModel(id, 'a__b__hot', ana))).toBe('VALIDATION_ERROR')
    expect(await codeOf(agent.sessions.pinModel(id, 'cold', ben))).toBe('SESSION_NOT_FOUND')
    expect((await agent.sessions.get(id, ana)).model).toBeNull()
  })
})

test('a temperature lies between 0 and 2, for some models 1', async () => {
  const { models } = twoModels()
  const { agent } = await newSetting([], { models })
  const { id } = await agent.sessions.create({}, ana)
  const set = (temperature: number | null) => codeOf(agent.sessions.setTemperature(id, temperature, ana))
  expect(await Promise.all([-0.1, 2.1].map(set))).toEqual(['VALIDATION_ERROR', 'VALIDATION_ERROR'])
  for (const temperature of [0, 2]) expect(await set(temperature)).toBe('none')
  expect(await codeOf(agent.sessions.pinModel(id, 'cold', ana))).toBe('VALIDATION_ERROR')
  expect(await set(1)).toBe('none')
  expect(await codeOf(agent.sessions.pinModel(id, 'cold', ana))).toBe('none')
  expect(await set(1.5)).toBe('VALIDATION_ERROR')
  expect((await agent.sessions.get(id, ana)).temperature).toBe(1)
  expect(await set(null)).toBe('none')
  expect((await agent.sessions.get(id, ana)).temperature).toBeNull()
})

test('a reasoning effort reaches the model; an unknown one is refused', async () => {
  const { agent, send, model } = await newSetting(() => ['x'])
  const { id } = await agent.sessions.create({}, ana)
  const pinEffort = async (effort: string | null) => {
    await agent.sessions.setReasoningEffort(id, effort, ana)
    await (await send({ chat_session_id: id })).whole()
    return model.requests.at(-1)?.reasoning
  }
  expect(await pinEffort('high')).toBe('high')
  expect(await pinEffort('off')).toBe('none')
  expect(await pinEffort('auto')).toBeUndefined()
  expect(await pinEffort(null)).toBeUndefined()
  expect(await codeOf(agent.sessions.setReasoningEffort(id, 'enormous', ana))).toBe('INVALID_INPUT')
  expect(await codeOf(agent.sessions.setReasoningEffort(id, 'toString', ana))).toBe('INVALID_INPUT')
})

test('the built-in model can be pinned by its listed name', async () => {
  const { agent } = await newSetting([], {
    models: modelProviders({ providers: [{ name: 'inlay', type: 'extractive' }], builtIn: builtInModel }),
  })
  const { id } = await agent.sessions.create({}, ana)
  expect(await codeOf(agent.sessions.pinModel(id, 'extractive', ana))).toBe('none')
})
