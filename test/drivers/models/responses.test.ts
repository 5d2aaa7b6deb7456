import { modelProviders } from '@inlay/drivers/model-providers'
import { expect, onTestFinished, test } from 'vitest'
import { fact, hasResults, search } from '../../inlay/models/fixture.ts'
import { post, startWithDocuments } from '../../inlay/models/with-documents.ts'
import type { RecordedRequest, Reply, StandIn } from '../../stand-in/model-server.ts'
import { startOpenAi } from '../../stand-in/openai.ts'
import { startResponses } from '../../stand-in/providers/responses.ts'

// The wording of OpenAI, which gateways pass on.
const refusals: readonly (readonly [number, string])[] = [
  [
    400,
    "Function tools with reasoning_effort are not supported for m-1 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
  ],
  [404, 'This model is only supported in v1/responses and not in v1/chat/completions.'],
]

const reply = (request: RecordedRequest): Reply =>
  JSON.stringify(request.body).includes(fact) ? [{ text: `${fact} [1]` }] : [search]

/** An assistant whose model refuses what `refuses` picks of the requests for chat completions. */
async function serve(
  server: StandIn,
  type: 'openai' | 'openai-compatible',
  [status, message]: readonly [number, string],
  refuses: (body: Readonly<Record<string, unknown>>) => boolean = () => true,
) {
  onTestFinished(() => server.close())
  let refused = 0
  const models = modelProviders({
    providers: [{ name: 'p', type, baseUrl: `${server.origin}/v1`, apiKey: 'k', models: [{ name: 'm-1' }] }],
    wrapFetch: (next) => async (url, init) => {
      const isRefused =
        String(url).endsWith('/chat/completions') &&
        refuses(JSON.parse(String(init?.body)) as object as Record<string, unknown>)
      if (!isRefused) return next(url, init)
      refused++
      return Response.json({ error: { message, type: 'invalid_request_error' } }, { status })
    },
  })
  const inlay = await startWithDocuments({ keys: fact }, { model: models, searchHelp: { expand: false } })
  const ask = async (message: string): Promise<unknown> =>
    (await post(inlay, '/chat/send-chat-message', { message, stream: false })).json()
  return { ask, refused: () => refused }
}

const cited = { answer: expect.stringContaining('boiler. [[1]]'), error_msg: null }

test.each(
  refusals.flatMap((refusal) => (['openai', 'openai-compatible'] as const).map((type) => [type, refusal] as const)),
)('a model that %s offers by the responses API alone answers with a search: %j', async (type, refusal) => {
  const server = await startResponses(reply)
  const { ask, refused } = await serve(server, type, refusal)
  expect(await ask('Where are the keys?')).toMatchObject(cited)
  expect(await ask('And where are the keys now?')).toMatchObject(cited)
  expect(refused()).toBe(1)
  expect(server.requests.every(({ body }) => body['store'] === false)).toBe(true)
  expect(server.requests[0]?.body['tools']).toContainEqual(expect.objectContaining({ strict: false }))
})

test('a gateway without the responses API is told not to think beside tools', async () => {
  const server = await startOpenAi((request) => (hasResults(request) ? [{ text: `${fact} [1]` }] : [search]))
  const [refusal = [400, ''] as const] = refusals
  const { ask, refused } = await serve(
    server,
    'openai-compatible',
    refusal,
    (body) => body['reasoning_effort'] !== 'none',
  )
  expect(await ask('Where are the keys?')).toMatchObject(cited)
  const before = refused()
  expect(await ask('And where are the keys now?')).toMatchObject(cited)
  expect(refused()).toBe(before)
})
