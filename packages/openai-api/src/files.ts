import type { IncomingFile, StoredFile } from '@inlay/agent'
import { fileReply, readForm, routesOf, uploadLimits, type Route } from '@inlay/server'
import * as v from 'valibot'
import { toFileId } from './content.ts'
import { invalid } from './errors.ts'
import { keepRecord, readFileId, keptRecord, recordsOf } from './kept-records.ts'
import { deletionOf, pageOf, pageQuery, pageSchema } from './pages.ts'

const route = routesOf('OpenAI files', { scope: ['chat', 'ingest'], owner: 'caller' })

/** What else it has is as in OpenAI's API. */
const fileSchema = v.looseObject({ id: v.string(), object: v.literal('file'), created_at: v.number() })
const formSchema = v.object({ file: v.string(), purpose: v.string() })
const path = v.object({ file_id: v.string() })
const purposes = ['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals']

export const fileRoutes: readonly Route[] = [
  route('POST /v1/files', 'createOpenaiFile', 'Upload a file', {
    description:
      'A form with `file` and `purpose`, in either order. A file that cannot be read as text or shown is refused.',
    input: { body: { kind: 'stream', mediaType: 'multipart/form-data', schema: formSchema } },
    answer: { description: 'The file.', schema: fileSchema },
    errors: ['INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED', 'NOT_IMPLEMENTED'],
    async handle({ request, caller, parts, settings }) {
      const records = recordsOf(parts)
      const form: { purpose?: string } = {}
      const incoming = filesOf(readForm(request, uploadLimits(settings)), form)
      const { files, rejected } = await parts.agent.files.upload(incoming, { caller })
      const [file] = files
      if (!file || form.purpose === undefined)
        throw invalid('file', rejected[0]?.reason ?? 'The file cannot be read: send it again.')
      const value = { fileId: file.id, purpose: form.purpose }
      await keepRecord(records, 'file_purpose', { value, owner: caller.id })
      return toFile(file, form.purpose)
    },
  }),
  route('GET /v1/files', 'listOpenaiFiles', 'List files', {
    input: { query: v.object({ ...pageQuery.entries, purpose: v.optional(v.string()) }) },
    answer: { description: 'The uploads of the caller, except unreadable ones.', schema: pageSchema(fileSchema) },
    errors: ['INVALID_INPUT'],
    async handle({ query, caller, parts }) {
      const [files, known] = await Promise.all([
        parts.agent.files.list(caller),
        recordsOf(parts).list('file_purpose', caller.id),
      ])
      const purposeOf = new Map(known.map(({ value }) => [value.fileId, value.purpose]))
      const all = files
        .map((file) => toFile(file, purposeOf.get(file.id)))
        .filter(({ purpose }) => query.purpose === undefined || purpose === query.purpose)
      return pageOf(all, query, { maxLimit: 10_000, usual: 10_000 })
    },
  }),
  route('GET /v1/files/{file_id}', 'getOpenaiFile', 'One file', {
    input: { path },
    answer: { description: 'The file.', schema: fileSchema },
    errors: ['NOT_FOUND'],
    async handle({ path: { file_id: id }, caller, parts }) {
      const file = await parts.agent.files.get(readFileId(id), caller)
      const known = await keptRecord(recordsOf(parts), 'file_purpose', { key: file.id, owner: caller.id })
      return toFile(file, known?.value.purpose)
    },
  }),
  route('GET /v1/files/{file_id}/content', 'getOpenaiFileContent', 'The bytes of a file', {
    input: { path },
    answer: { description: 'The bytes, whatever the purpose.', mediaType: 'application/octet-stream' },
    errors: ['NOT_FOUND', 'GONE'],
    async handle({ path: { file_id: id }, caller, parts, request }) {
      return fileReply(await parts.agent.files.open(readFileId(id), caller), request)
    },
  }),
  route('DELETE /v1/files/{file_id}', 'deleteOpenaiFile', 'Delete a file', {
    description:
      'Documents that were made from it stay in their vector stores. A file of a project or agent is not deleted.',
    input: { path },
    answer: deletionOf('file'),
    errors: ['NOT_FOUND', 'INVALID_INPUT'],
    async handle({ path: { file_id: id }, caller, parts }) {
      const records = recordsOf(parts)
      const file = await parts.agent.files.get(readFileId(id), caller)
      const { projects, personas, isInDocument } = await parts.agent.files.remove(file.id, caller)
      if (isInDocument || projects.length + personas.length > 0) {
        const users = [...projects, ...personas].map((name) => `"${name}"`).join(', ') || 'a document'
        throw invalid('file_id', `The file is used by ${users}: remove it there first.`)
      }
      const known = await keptRecord(records, 'file_purpose', { key: file.id, owner: caller.id })
      if (known) await records.remove('file_purpose', known.id, caller.id)
      return { id: toFileId(file.id), object: 'file' as const, deleted: true as const }
    },
  }),
]

/** The file of a form, and its other fields once it was read. */
async function* filesOf(form: ReturnType<typeof readForm>, fields: { purpose?: string }): AsyncGenerator<IncomingFile> {
  let count = 0
  for await (const part of form) {
    if (part.kind === 'file' && part.name === 'file') {
      if (++count > 1) throw invalid('file', 'Send one file at a time.')
      yield { name: part.fileName, mediaType: part.mediaType, bytes: part.bytes }
    } else if (part.kind === 'field' && part.name === 'purpose') fields.purpose = part.value
    else if (part.name.startsWith('expires_after'))
      throw invalid('expires_after', 'Files do not expire here: leave expires_after out and delete the file.')
  }
  if (count === 0) throw invalid('file', 'file is required.', 'missing_required_parameter')
  if (fields.purpose === undefined) throw invalid('purpose', 'purpose is required.', 'missing_required_parameter')
  if (!purposes.includes(fields.purpose)) throw invalid('purpose', `purpose must be one of ${purposes.join(', ')}.`)
}

const statusOf = { PROCESSING: 'uploaded', COMPLETED: 'processed', SKIPPED: 'processed', FAILED: 'error' } as const

function toFile(file: StoredFile, purpose = 'user_data') {
  return {
    id: toFileId(file.id),
    object: 'file' as const,
    bytes: file.sizeBytes,
    created_at: Math.floor(file.createdAt / 1000),
    expires_at: null,
    filename: file.name,
    purpose,
    status: statusOf[file.status],
    status_details: file.reason,
  }
}
