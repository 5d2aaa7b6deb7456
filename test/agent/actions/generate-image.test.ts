import { describe, expect, test } from 'vitest'
import type { ImageGenerator, ImageRequest } from '@inlay/agent'
import { createGenerateImage } from '@inlay/agent/internal/actions/generate-image'
import type { ActionTurn, TurnFiles } from '@inlay/agent'
import type { IncomingFile, StoredFile } from '@inlay/agent'
import { InlayError, type PacketBody } from '@inlay/protocol'
import { newTurn } from '../action-turn.ts'

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47])

function storedFile(id: string, more: Partial<StoredFile> = {}): StoredFile {
  return {
    id: `u-${id}`,
    fileId: `f-${id}`,
    ownerId: 'ana',
    name: `${id}.png`,
    mediaType: 'image/png',
    kind: 'image',
    sizeBytes: 4,
    status: 'completed',
    reason: null,
    tokens: null,
    createdAt: 0,
    usedAt: null,
    ...more,
  } as StoredFile
}

/** Files of a turn: `cat` is a picture, `notes` is not. */
function newFiles() {
  const kept: { name: string; mediaType: string; bytes: Uint8Array }[] = []
  const there = [storedFile('cat'), storedFile('notes', { kind: 'plain_text' as StoredFile['kind'] })]
  const files: TurnFiles = {
    list: async () => there,
    read: async () => [],
    open: async (id) => {
      const file = there.find((item) => item.fileId === id || item.id === id)
      if (!file) throw new InlayError('NOT_FOUND')
      return { file, bytes: new Blob([png]).stream() }
    },
    keep: async ({ name, mediaType, bytes }: IncomingFile) => {
      const pieces: Uint8Array[] = []
      for await (const piece of bytes) pieces.push(piece)
      kept.push({ name, mediaType, bytes: Buffer.concat(pieces) })
      return storedFile(`${kept.length}`)
    },
  }
  return { files, kept }
}

interface Drawing {
  readonly packets: PacketBody[]
  readonly kept: ReturnType<typeof newFiles>['kept']
  readonly requests: ImageRequest[]
  readonly timers: { readonly intervalMs: number; readonly beat: () => void; isStopped: boolean }[]
  readonly result: Promise<Awaited<ReturnType<ReturnType<typeof createGenerateImage>['run']>>>
}

function draw(
  input: Parameters<ReturnType<typeof createGenerateImage>['run']>[0],
  generate: ImageGenerator = async () => [{ bytes: png, mediaType: 'image/png' }],
  more: Partial<ActionTurn> = {},
): Drawing {
  const requests: ImageRequest[] = []
  const timers: Drawing['timers'] = []
  const { files, kept } = newFiles()
  const action = createGenerateImage({
    generate: (request) => (requests.push(request), generate(request)),
    repeat: (intervalMs, beat) => {
      const timer = { intervalMs, beat, isStopped: false }
      timers.push(timer)
      return () => void (timer.isStopped = true)
    },
  })
  const { turn, packets } = newTurn({ files, ...more })
  return { packets, kept, requests, timers, result: action.run(input, turn) }
}

test('a picture is kept as a file and shown by its path; the model has to answer then', async () => {
  const drawing = draw({ prompt: 'a heron', shape: 'landscape' }, async () => [
    { bytes: png, mediaType: 'image/webp', revisedPrompt: 'a grey heron' },
  ])
  const { images, text } = await drawing.result
  expect(drawing.kept).toEqual([{ name: 'generated-image.webp', mediaType: 'image/webp', bytes: Buffer.from(png) }])
  expect(images).toEqual([
    { file_id: 'f-1', url: '/api/chat/file/f-1', revised_prompt: 'a grey heron', shape: 'landscape' },
  ])
  expect(drawing.packets).toEqual([{ type: 'image_generation_heartbeat' }, { type: 'image_generation_final', images }])
  expect(JSON.parse(text)).toMatchObject({ images: [{ file_id: 'f-1', prompt: 'a grey heron' }] })
  const action = createGenerateImage({ generate: async () => [] })
  expect([action.isLast, action.start?.()]).toEqual([true, { type: 'image_generation_start' }])
})

test('clients hear at once, and every five seconds, that it is being drawn; never after the end', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const drawing = draw({ prompt: 'a heron' }, async () => {
    await promise
    return [{ bytes: png, mediaType: 'image/png' }]
  })
  expect(drawing.packets).toHaveLength(1)
  expect(drawing.timers).toMatchObject([{ intervalMs: 5_000, isStopped: false }])
  drawing.timers[0]?.beat()
  resolve()
  await drawing.result
  expect(drawing.packets.map(({ type }) => type)).toEqual([
    'image_generation_heartbeat',
    'image_generation_heartbeat',
    'image_generation_final',
  ])
  expect(drawing.timers[0]?.isStopped).toBe(true)
})

test('pictures and prompts without end are cut', async () => {
  const drawing = draw({ prompt: 'a heron' }, async () =>
    Array.from({ length: 30 }, () => ({ bytes: png, mediaType: 'image/png', revisedPrompt: 'x'.repeat(1e5) })),
  )
  const { images } = await drawing.result
  expect(images).toHaveLength(10)
  expect(JSON.stringify(drawing.packets).length).toBeLessThan(100_000)
})

describe('references', () => {
  test('are pictures of the conversation, by either of their ids, each once', async () => {
    const drawing = draw({ prompt: 'the cat again', reference_image_file_ids: ['f-cat', 'f-cat'] })
    await drawing.result
    expect(drawing.requests).toMatchObject([
      { prompt: 'the cat again', shape: 'square', references: [{ bytes: png, mediaType: 'image/png' }] },
    ])
  })

  test('that are no pictures, or unknown, end the call before anything is drawn', async () => {
    for (const [id, code] of [
      ['f-notes', 'INVALID_INPUT'],
      ['f-other', 'NOT_FOUND'],
    ] as const) {
      const drawing = draw({ prompt: 'x', reference_image_file_ids: [id] })
      await expect(drawing.result).rejects.toMatchObject({ code })
      expect([drawing.requests, drawing.timers[0]?.isStopped]).toEqual([[], true])
    }
  })
})

describe('what fails', () => {
  test('keeps its reason, stops the heartbeats and shows no picture', async () => {
    const drawing = draw({ prompt: 'x' }, async () => {
      throw new InlayError('CONTENT_POLICY')
    })
    await expect(drawing.result).rejects.toMatchObject({ code: 'CONTENT_POLICY' })
    expect(drawing.packets).toEqual([{ type: 'image_generation_heartbeat' }])
    expect(drawing.timers[0]?.isStopped).toBe(true)
  })

  test('a model that gives nothing, and an installation that keeps no files', async () => {
    await expect(draw({ prompt: 'x' }, async () => []).result).rejects.toMatchObject({ code: 'BAD_GATEWAY' })
    await expect(draw({ prompt: 'x' }, undefined, { files: undefined }).result).rejects.toMatchObject({
      code: 'UNSUPPORTED',
    })
  })

  test('a stop while it draws keeps no picture', async () => {
    const stop = new AbortController()
    const drawing = draw(
      { prompt: 'x' },
      async () => {
        stop.abort(new Error('stopped'))
        return [{ bytes: png, mediaType: 'image/png' }]
      },
      { signal: stop.signal },
    )
    await expect(drawing.result).rejects.toThrow('stopped')
    expect(drawing.kept).toEqual([])
  })
})

test('arguments: a prompt is needed, the shape is one of three, references may be left out or null', async () => {
  const { input } = createGenerateImage({ generate: async () => [] })
  const fits = async (value: unknown): Promise<boolean> =>
    (await input['~standard'].validate(value)).issues === undefined
  expect(await fits({ prompt: 'x' })).toBe(true)
  expect(await fits({ prompt: 'x', shape: 'portrait', reference_image_file_ids: null })).toBe(true)
  for (const wrong of [
    {},
    { prompt: ' ' },
    { prompt: 'x', shape: 'round' },
    { prompt: 'x', reference_image_file_ids: 'f' },
  ])
    expect(await fits(wrong)).toBe(false)
  expect(input['~standard'].jsonSchema.input({ target: 'draft-07' })).toMatchObject({ required: ['prompt'] })
})
