import { describe, expect, test } from 'vitest'
import { isInlayError } from '@inlay/protocol'
import { readForm, type FormLimits, type FormPart } from '@inlay/server/internal/http/multipart'

const limits: FormLimits = { totalBytes: 10_000_000, fieldBytes: 1_000, parts: 50 }

function bodyOf(bytes: Uint8Array, chunkBytes: number): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.byteLength) return controller.close()
      controller.enqueue(bytes.slice(at, at + chunkBytes))
      at += chunkBytes
    },
  })
}

function requestOf(
  body: Uint8Array | string,
  { type = 'multipart/form-data; boundary=XX', chunkBytes = 1_000_000 } = {},
): Request {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  return new Request('http://host.example/', {
    method: 'POST',
    headers: { 'content-type': type },
    body: bodyOf(bytes, chunkBytes),
    duplex: 'half',
  } as RequestInit)
}

interface ReadPart {
  readonly name: string
  readonly value?: string
  readonly fileName?: string
  readonly mediaType?: string
  readonly bytes?: Uint8Array
}

async function readAll(request: Request, bounds = limits): Promise<ReadPart[]> {
  const parts: ReadPart[] = []
  for await (const part of readForm(request, bounds)) parts.push(await readPart(part))
  return parts
}

async function readPart(part: FormPart): Promise<ReadPart> {
  if (part.kind === 'field') return { name: part.name, value: part.value }
  const pieces: Uint8Array[] = []
  for await (const piece of part.bytes) pieces.push(piece)
  return {
    name: part.name,
    fileName: part.fileName,
    mediaType: part.mediaType,
    bytes: new Uint8Array(Buffer.concat(pieces)),
  }
}

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was thrown',
    (error: unknown) => (isInlayError(error) ? error.code : String(error)),
  )

const part = (head: string, content: string): string =>
  `--XX\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`

describe('a form', () => {
  test.each([1, 2, 3, 7, 64, 1_000_000])(
    'gives its parts whatever chunks of %i bytes it comes in',
    async (chunkBytes) => {
      const tricky = 'a\r\n--X\r\n--XY\r\r\n-\r\n\r\n--'
      const body = `preamble\r\n${part('name="files"; filename="a.txt"\r\nContent-Type: text/plain', tricky)}${part('name="project_id"', '7')}${part('name="files"; filename="empty"', '')}--XX--\r\nepilogue`
      const parts = await readAll(requestOf(body, { chunkBytes }))
      expect(parts).toEqual([
        { name: 'files', fileName: 'a.txt', mediaType: 'text/plain', bytes: new TextEncoder().encode(tricky) },
        { name: 'project_id', value: '7' },
        { name: 'files', fileName: 'empty', mediaType: '', bytes: new Uint8Array() },
      ])
    },
  )

  test('made by the platform comes back as it was, names in any script and all bytes', async () => {
    const bytes = Uint8Array.from({ length: 200_000 }, (_, index) => (index * 31) % 256)
    const form = new FormData()
    form.append('temp_id_map', '{"ключ":"1"}')
    form.append('files', new Blob([bytes], { type: 'application/pdf' }), 'отчёт "final".pdf')
    const parts = await readAll(new Request('http://host.example/', { method: 'POST', body: form }))
    expect(parts[0]).toEqual({ name: 'temp_id_map', value: '{"ключ":"1"}' })
    expect(parts[1]).toMatchObject({ name: 'files', fileName: 'отчёт "final".pdf', mediaType: 'application/pdf' })
    expect(Buffer.compare(parts[1]!.bytes!, bytes)).toBe(0)
  })

  test('goes on behind a file that nobody read, or not to its end', async () => {
    const body = `${part('name="files"; filename="a"', 'x'.repeat(5_000))}${part('name="files"; filename="b"', 'y'.repeat(5_000))}${part('name="last"', 'z')}--XX--`
    const seen: string[] = []
    for await (const item of readForm(requestOf(body, { chunkBytes: 100 }), limits)) {
      seen.push(item.name)
      if (item.kind === 'file' && item.fileName === 'b') for await (const _ of item.bytes) break
    }
    expect(seen).toEqual(['files', 'files', 'last'])
  })

  test.each([
    ['without a boundary', 'multipart/form-data', '--XX--'],
    ['of another type', 'application/json', '{}'],
    ['that ends early', undefined, part('name="a"', '1').slice(0, -4)],
    ['without a single delimiter', undefined, 'nothing'],
    ['with text behind a delimiter', undefined, `--XXjunk\r\n${part('name="a"', '1')}--XX--`],
    ['with a part that has no name', undefined, `${part('filename="a"', '1')}--XX--`],
  ])('%s is refused as malformed', async (_, type, body) => {
    expect(await codeOf(readAll(requestOf(body, type === undefined ? {} : { type })))).toBe('VALIDATION_FAILED')
  })

  test.each([
    ['larger than its bound', part('name="files"; filename="a"', 'x'.repeat(2_000)), { totalBytes: 1_000 }],
    ['with a field above its bound', part('name="a"', 'x'.repeat(2_000)), {}],
    ['with one part too many', part('name="a"', '1').repeat(51), {}],
  ])('%s is refused as too large', async (_, body, bounds) => {
    expect(await codeOf(readAll(requestOf(`${body}--XX--`), { ...limits, ...bounds }))).toBe('PAYLOAD_TOO_LARGE')
  })

  test('with a head that never ends is refused before it is read', async () => {
    const body = `--XX\r\nContent-Disposition: form-data; name="${'x'.repeat(40_000)}`
    expect(await codeOf(readAll(requestOf(body, { chunkBytes: 500 })))).toBe('VALIDATION_FAILED')
  })
})

test('a form as long as the limit is read, and what follows its end counts as well', async () => {
  const form = '--XX\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--XX--\r\n'
  const read = (body: string): Promise<unknown> =>
    readAll(requestOf(body, { chunkBytes: 10 }), { ...limits, totalBytes: form.length })
  expect(await read(form)).toEqual([{ name: 'a', value: 'b' }])
  expect(await codeOf(read(`${form}${'x'.repeat(100)}`))).toBe('PAYLOAD_TOO_LARGE')
})
