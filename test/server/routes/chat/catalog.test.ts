import { expect, test } from 'vitest'
import type { Action } from '@inlay/agent'
import { setup } from '../../fakes.ts'

const action = (fields: Partial<Action>): Action => ({
  id: 1,
  name: 'internal_search',
  displayName: 'Internal Search',
  description: 'Searches.',
  builtIn: 'SearchTool',
  input: {
    '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }), jsonSchema: { input: () => ({}) } },
  },
  run: async () => ({ text: '' }),
  ...fields,
})

test('actions are listed with the ids requests name them by', async () => {
  const { ask, agent } = setup()
  Object.assign(agent, { actions: async () => [action({}), action({ id: 7, name: 'book_room', builtIn: null })] })
  const listed = (await (await ask('/tool')).json()) as Record<string, unknown>[]
  expect(listed).toEqual([
    expect.objectContaining({
      id: 1,
      name: 'internal_search',
      display_name: 'Internal Search',
      in_code_tool_id: 'SearchTool',
    }),
    expect.objectContaining({ id: 7, name: 'book_room', in_code_tool_id: null, enabled: true, chat_selectable: true }),
  ])
})

test('models are listed by provider, named as what they are', async () => {
  expect(await (await setup().ask('/llm/provider')).json()).toEqual({
    providers: [
      {
        id: 1,
        name: 'inlay',
        provider: 'extractive',
        provider_display_name: 'Inlay',
        model_configurations: [
          {
            id: 1,
            name: 'extractive',
            is_visible: true,
            max_input_tokens: 64_000,
            supports_image_input: false,
            supports_reasoning: false,
            supported_reasoning_efforts: [],
            reasoning_effort_max: null,
            reasoning_effort_default: null,
            temperature_default: null,
            is_recommended_default: true,
            display_name: 'Built-in extractive model',
            custom_display_name: null,
            provider_display_name: 'Inlay',
            vendor: null,
            version: null,
            region: null,
          },
        ],
      },
    ],
    default_text: { provider_id: 1, model_name: 'extractive' },
    default_vision: null,
    default_chat_naming: { provider_id: 1, model_name: 'extractive' },
  })
})

test('a model that reasons names the efforts that sessions may set', async () => {
  const { ask, agent } = setup()
  const [listed] = await agent.models()
  Object.assign(agent, { models: async () => [{ ...listed, reasons: true }] })
  const { providers } = (await (await ask('/llm/provider')).json()) as {
    providers: readonly { readonly model_configurations: readonly Record<string, unknown>[] }[]
  }
  expect(providers[0]?.model_configurations[0]).toMatchObject({
    supports_reasoning: true,
    supported_reasoning_efforts: ['low', 'medium', 'high'],
  })
})
