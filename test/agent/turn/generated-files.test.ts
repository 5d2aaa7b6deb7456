import { createStorage } from 'unstorage'
import { expect, test } from 'vitest'
import type { ImageGenerator, ImageRequest } from '@inlay/agent'
import type { Run } from '@inlay/agent'
import type { HostAction } from '@inlay/agent/host-actions'
import type { Script } from '@inlay/agent/testing'
import { ana, ben, newSetting, readAll } from '../setting.ts'

const png = Uint8Array.from(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))

const draws = (input: object) => [{ call: { name: 'generate_image', input: { prompt: 'a heron', ...input } } }]

/** Generates an image for each message, based on the last image if there is one, then answers. */
const drawsOnce =
  (reference: () => string): Script =>
  ({ prompt }) => {
    if (prompt.at(-1)?.role !== 'user') return ['Here it is.']
    return draws(reference() === '' ? {} : { reference_image_file_ids: [reference()] })
  }

/** An agent that draws, and what its image model was asked. */
async function drawing(script: Parameters<typeof newSetting>[0]) {
  const requests: ImageRequest[] = []
  const imageGenerator: ImageGenerator = async (request) => {
    requests.push(request)
    return [{ bytes: png, mediaType: 'image/png' }]
  }
  const setting = await newSetting(script, { storage: createStorage(), imageGenerator })
  return { ...setting, requests }
}

async function pictureOf(run: Run): Promise<string> {
  const images = (await readAll(run)).flatMap((line) =>
    'obj' in line && line.obj.type === 'image_generation_final' ? line.obj.images : [],
  )
  return images[0]?.file_id ?? ''
}

test('a picture made in the conversation can be taken up in a later message', async () => {
  let first = ''
  const { send, requests } = await drawing(drawsOnce(() => first))
  const run = await send({ message: 'Draw a heron' })
  first = await pictureOf(run)
  const again = await send({ message: 'And again, blue', chat_session_id: run.sessionId })
  expect(await pictureOf(again)).not.toBe('')
  expect(requests.map(({ references }) => references.length)).toEqual([0, 1])
  expect([...(requests[1]?.references[0]?.bytes ?? [])]).toEqual([...png])
})

test('one of another conversation, and one of somebody else, cannot', async () => {
  let first = ''
  const { send, requests } = await drawing(drawsOnce(() => first))
  const run = await send({ message: 'Draw a heron' })
  first = await pictureOf(run)
  for (const caller of [ana, ben]) {
    const other = await send({ message: 'Again' }, { caller })
    expect(await pictureOf(other)).toBe('')
    const errors = (await readAll(other)).flatMap((line) =>
      'obj' in line && line.obj.type === 'error' ? [line.obj] : [],
    )
    expect(errors).toMatchObject([{ error_code: 'NOT_FOUND' }])
  }
  expect(requests).toHaveLength(1)
})

test('so can a file that an action of the host made', async () => {
  const seen: string[][] = []
  const maker: HostAction = {
    id: 1_000_001,
    name: 'make_table',
    displayName: 'Make table',
    description: 'Makes a table.',
    builtIn: null,
    input: {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => ({ value: {} }),
        jsonSchema: { input: () => ({ type: 'object', properties: {} }) },
      },
    },
    run: async (_input, turn) => {
      seen.push((await turn.files?.list())?.map(({ name }) => name) ?? [])
      const bytes = (async function* () {
        yield new TextEncoder().encode('a,b')
      })()
      const kept = await turn.files?.keep({ name: `table-${seen.length}.csv`, mediaType: 'text/csv', bytes })
      const about = { tool_name: 'make_table', response_type: 'csv', data: null, error: null } as const
      turn.emit({ type: 'custom_tool_delta', ...about, tool_id: 1_000_001, file_ids: [kept?.fileId ?? ''] })
      return { text: 'Made.' }
    },
  }
  const { send } = await newSetting(
    (_options, index) => (index % 2 === 0 ? [{ call: { name: 'make_table', input: {} } }] : ['Done.']),
    { storage: createStorage(), actions: [maker] },
  )
  const run = await send({ message: 'Make a table' })
  await run.whole()
  await (await send({ message: 'And another', chat_session_id: run.sessionId })).whole()
  expect(seen).toEqual([[], ['table-1.csv']])
})
