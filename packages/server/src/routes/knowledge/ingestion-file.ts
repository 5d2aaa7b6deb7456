import { joinInSlices } from '@inlay/scheduling'
import { ingestionFormSchema, ingestionResponseSchema, integer, validationFailed } from '@inlay/protocol'
import * as v from 'valibot'
import { declaredBytes, tooLarge } from '../../http/body.ts'
import { readForm } from '../../http/multipart.ts'
import { routesOf, type Route } from '../../http/route.ts'

/** Maximum file size in bytes: the file is in memory while its text is extracted. */
const maxFileBytes = 100 * 2 ** 20
const fieldBytes = 64 * 1024
const maxParts = 20

const route = routesOf('Ingestion', { scope: 'ingest', owner: 'pair' })

export const ingestionFileRoutes: readonly Route[] = [
  route('POST /service-api/ingestion/file', 'ingestFile', 'Add or update a document from a file', {
    aliases: ['/onyx-api/ingestion/file'],
    description:
      'PDF, Office, HTML, mail, CSV, Markdown or text, up to 100 MB. The text is extracted before ' +
      'the response, which then has the same guarantees as for any document.',
    input: { body: { kind: 'stream', mediaType: 'multipart/form-data', schema: ingestionFormSchema } },
    answer: { description: 'Accepted.', schema: ingestionResponseSchema },
    errors: ['CONNECTOR_NOT_FOUND', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'RATE_LIMITED', 'UNSUPPORTED'],
    async handle({ request, caller, parts, holdBytes }) {
      holdBytes(Math.min(declaredBytes(request) ?? 0, maxFileBytes))
      const { file, fields } = await readFileForm(request, holdBytes)
      const { documentId, alreadyExisted } = await parts.knowledge.ingestFile(
        {
          file,
          id: fields.get('id'),
          title: fields.get('title'),
          link: fields.get('link'),
          updatedAt: timeOf(fields.get('updated_at')),
          pairId: pairIdOf(fields.get('cc_pair_id')),
        },
        { caller, signal: request.signal },
      )
      return { document_id: documentId, already_existed: alreadyExisted }
    },
  }),
]

interface FileForm {
  readonly file: { readonly name: string; readonly mediaType: string; readonly bytes: Uint8Array }
  /** Blank fields are omitted. */
  readonly fields: ReadonlyMap<string, string>
}

async function readFileForm(request: Request, holdBytes: (bytes: number) => void): Promise<FileForm> {
  const fields = new Map<string, string>()
  let file: FileForm['file'] | undefined
  const limits = { totalBytes: maxFileBytes + maxParts * fieldBytes, fieldBytes, parts: maxParts }
  for await (const part of readForm(request, limits)) {
    if (part.kind === 'field') {
      if (part.value.trim() !== '') fields.set(part.name, part.value)
    } else if (part.name === 'file' && file === undefined)
      file = { name: part.fileName, mediaType: part.mediaType, bytes: await readAll(part.bytes, holdBytes) }
  }
  if (file === undefined) throw validationFailed([{ loc: ['body', 'file'], msg: 'is required', type: 'missing' }])
  return { file, fields }
}

async function readAll(pieces: AsyncIterable<Uint8Array>, holdBytes: (bytes: number) => void): Promise<Uint8Array> {
  const kept: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.byteLength
    if (size > maxFileBytes) throw tooLarge(maxFileBytes)
    holdBytes(size)
    // Copied because the reader reuses its buffer.
    kept.push(piece.slice())
  }
  return joinInSlices(kept, size)
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const time = Date.parse(text)
  if (Number.isFinite(time)) return time
  throw validationFailed([{ loc: ['body', 'updated_at'], msg: 'must be a date and time', type: 'datetime_parsing' }])
}

function pairIdOf(text: string | undefined): number | undefined {
  if (text === undefined || text === 'null') return undefined
  const number = v.safeParse(integer, text)
  if (number.success) return number.output
  throw validationFailed([{ loc: ['body', 'cc_pair_id'], msg: 'must be a whole number', type: 'int_parsing' }])
}
