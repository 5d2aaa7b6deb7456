import type { IncomingFile, OpenedFile, StoredFile } from '@inlay/agent'
import type { Files, UploadDetails } from '@inlay/conversations'
import {
  complete,
  fileRemovalSchema,
  fileStatusesRequestSchema,
  InlayError,
  isInlayError,
  integer,
  queryBoolean,
  readTempIds,
  toUserId,
  uploadAnswerSchema,
  uploadFormSchema,
  userFileSchema,
  uuid,
  validationFailed,
  type ParsedSheets,
  type Principal,
  type Scope,
  type UserFile,
} from '@inlay/protocol'
import * as v from 'valibot'
import { pulledFrom } from '../../http/body.ts'
import { readForm, type FormLimits } from '../../http/multipart.ts'
import { jsonReply, reply, type Reply } from '../../http/replies.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'
import type { ServerSettings } from '../../http/settings.ts'

const route = routesOf('Files', { scope: 'chat', owner: 'caller' })
const filePath = v.object({ file_id: uuid })

export const fileRoutes: readonly Route[] = [
  uploadRoute('/user/projects/file/upload', 'uploadFiles', 'chat'),
  uploadRoute('/user/file/upload', 'uploadFile', ['chat', 'ingest']),
  route('GET /user/projects/file', 'listFiles', 'List files', {
    aliases: ['/user/files/recent'],
    description: 'Lists the caller’s uploads, most recently used first, except unreadable ones.',
    answer: { description: 'The files.', schema: v.array(userFileSchema) },
    handle: async ({ caller, parts }) => (await parts.agent.files.list(caller)).map((file) => toUserFile(file)),
  }),
  route('GET /user/projects/file/{file_id}', 'getFile', 'One file', {
    description: 'Processing state, with the reason of a failure.',
    input: { path: filePath },
    answer: { description: 'The file.', schema: userFileSchema },
    errors: ['NOT_FOUND'],
    handle: async ({ path, caller, parts }) => toUserFile(await parts.agent.files.get(path.file_id, caller)),
  }),
  route('POST /user/projects/file/statuses', 'getFileStatuses', 'Several files', {
    description: 'Unknown ids are omitted.',
    input: { body: fileStatusesRequestSchema },
    answer: { description: 'The files, in the requested order.', schema: v.array(userFileSchema) },
    async handle({ body, caller, parts }) {
      return (await parts.agent.files.find(body.file_ids, caller)).map((file) => toUserFile(file))
    },
  }),
  route('DELETE /user/projects/file/{file_id}', 'deleteFile', 'Remove a file', {
    description:
      'A file in use by a project, an agent or a document is not deleted; the response names the ' +
      'projects and agents.',
    input: { path: filePath },
    answer: { description: 'Whether the file was deleted, and what uses it otherwise.', schema: fileRemovalSchema },
    errors: ['NOT_FOUND'],
    async handle({ path, caller, parts }) {
      const { projects, personas, isInDocument } = await parts.agent.files.remove(path.file_id, caller)
      const isHeld = isInDocument || projects.length + personas.length > 0
      return { has_associations: isHeld, project_names: projects, assistant_names: personas }
    },
  }),
  route('GET /chat/file/{file_id}', 'fetchFile', 'Download a file', {
    description:
      'Returns the original bytes; with `parsed=true`, the sheets of a spreadsheet as JSON: ' +
      '`{sheets: [{name, csv, truncated}]}`. Allowed for files of the caller, images of documents ' +
      'that the caller can see, and images of agents that the caller can use.',
    input: {
      path: v.object({ file_id: v.string() }),
      query: v.object({ parsed: v.optional(queryBoolean, 'false') }),
      headers: { 'if-none-match': 'The `etag` of an earlier response; a match returns 304 without a body.' },
    },
    answer: {
      description: 'The bytes, or the sheets.',
      mediaType: 'application/octet-stream',
      unchanged: 'The `etag` sent is still current.',
      headers: {
        etag: 'Identifies the content, which never changes.',
        'content-disposition': 'The name of the file, and whether browsers display or download it.',
      },
    },
    errors: ['NOT_FOUND', 'INVALID_INPUT', 'GONE'],
    async handle({ path, query, caller, parts, request }) {
      const { files } = parts.agent
      return query.parsed
        ? sheetsReply(files, path.file_id, caller, request)
        : fileReply(await openVisibleFile(path.file_id, caller, parts), request)
    },
  }),
]

function uploadRoute(path: `/${string}`, operationId: string, scope: Scope | readonly Scope[]): Route {
  return route(`POST ${path}`, operationId, 'Upload files', {
    scope,
    description:
      'A form with one or more `files`. Files that cannot be accepted are listed with the reason, ' +
      'the others are stored. Use `file_id` in `file_descriptors` of a message and in ' +
      '`image_file_id` of a section. Text is extracted in the background; a file can be sent with a ' +
      'message before that is done.',
    input: { body: { kind: 'stream', mediaType: 'multipart/form-data', schema: uploadFormSchema } },
    answer: { description: 'Accepted and rejected files.', schema: uploadAnswerSchema },
    errors: ['NOT_FOUND', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED', 'DEPLOYMENT_UNSUPPORTED'],
    async handle({ request, caller, parts, settings }) {
      const form = splitForm(request, uploadLimits(settings))
      const { files, rejected } = await parts.agent.files.upload(form.files, { caller, details: form.details })
      return {
        user_files: files.map((file) => toUserFile(file, file.tempId)),
        rejected_files: rejected.map(({ name, reason }) => ({ file_name: name, reason })),
      }
    },
  })
}

/** Size limits of an upload, for all files together. */
export function uploadLimits({ limits }: ServerSettings): FormLimits {
  return { totalBytes: limits.maxUploadBytes, fieldBytes: 256 * 1024, parts: 1000 }
}

/** Splits a form into its files as they arrive and its other fields, available afterwards. */
export function splitForm(
  request: Request,
  limits: FormLimits,
): { readonly files: AsyncIterable<IncomingFile>; readonly details: () => UploadDetails } {
  let projectId: number | null = null
  let tempIds: UploadDetails['tempIds'] = {}
  async function* files(): AsyncGenerator<IncomingFile> {
    let count = 0
    for await (const part of readForm(request, limits)) {
      if (part.kind === 'file') {
        // Browsers send a file field without a selected file with an empty name.
        if (part.fileName === '' || part.name !== 'files') continue
        count++
        yield { name: part.fileName, mediaType: part.mediaType, bytes: part.bytes }
      } else if (part.name === 'project_id') projectId = readProjectId(part.value)
      else if (part.name === 'incognito_session_id') refuseIncognito(part.value)
      else if (part.name === 'temp_id_map') tempIds = readTempIds(part.value)
    }
    if (count === 0) throw validationFailed([{ loc: ['body', 'files'], msg: 'is required', type: 'missing' }])
  }
  return { files: files(), details: () => ({ projectId, tempIds }) }
}

/** Refuses uploads to incognito sessions, since the file would be stored. */
function refuseIncognito(sessionId: string): void {
  if (sessionId.trim() === '' || sessionId === 'null') return
  const read = v.safeParse(uuid, sessionId)
  if (read.success) throw new InlayError('DEPLOYMENT_UNSUPPORTED', { message: 'Incognito sessions are not supported.' })
  throw validationFailed([{ loc: ['body', 'incognito_session_id'], msg: 'must be a UUID', type: 'uuid_parsing' }])
}

function readProjectId(value: string): number | null {
  const text = value.trim()
  if (text === '' || text === 'null') return null
  const number = v.safeParse(integer, text)
  if (number.success) return number.output
  throw validationFailed([{ loc: ['body', 'project_id'], msg: 'must be a whole number', type: 'int_parsing' }])
}

export function toUserFile(file: StoredFile, tempId: string | null = null): UserFile {
  return complete(userFileSchema, {
    id: file.id,
    temp_id: tempId,
    name: file.name,
    user_id: toUserId(file.ownerId),
    file_id: file.fileId,
    created_at: new Date(file.createdAt).toISOString(),
    status: file.status,
    reason: file.reason,
    last_accessed_at: file.usedAt === null ? null : new Date(file.usedAt).toISOString(),
    file_type: file.mediaType,
    chat_file_type: file.kind,
    token_count: file.tokens,
  })
}

/** Types that browsers display without running any code; all others are downloaded. */
const shownTypes = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'text/plain'])

/** Security and caching headers of a file: no script can run on this origin, and clients may cache it indefinitely. */
function guardedHeaders(etag: string): Record<string, string> {
  return {
    etag,
    'cache-control': 'private, max-age=31536000, immutable',
    // Either header may identify the caller.
    vary: 'Cookie, Authorization',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  }
}

/** A file of the caller, or an image of a document that they may see or an agent that they may use. */
async function openVisibleFile(id: string, caller: Principal, { agent, knowledge }: ServerParts): Promise<OpenedFile> {
  try {
    return await agent.files.open(id, caller)
  } catch (error) {
    if (!isInlayError(error) || error.code !== 'NOT_FOUND') throw error
    const isSeen = (await knowledge.namesFile(id, { caller })) || (await agent.personas.showsPicture(id, caller))
    if (!isSeen) throw error
    const opened = await agent.files.openById(id)
    if (opened.file.kind === 'image') return opened
    void opened.bytes.cancel()
    throw error
  }
}

export async function fileReply({ file, bytes }: OpenedFile, request: Request): Promise<Reply> {
  const headers = guardedHeaders(`"${file.fileId}"`)
  if (isKnown(request, headers)) {
    void bytes.cancel()
    return reply(null, { status: 304, headers })
  }
  const disposition = shownTypes.has(file.mediaType) ? 'inline' : 'attachment'
  const name = encodeURIComponent(file.name).replace(/['()*]/g, (unsafe) => `%${unsafe.charCodeAt(0).toString(16)}`)
  return reply(await begun(bytes), {
    headers: {
      ...headers,
      'content-type': file.mediaType === 'text/plain' ? 'text/plain; charset=utf-8' : file.mediaType,
      'content-length': String(file.sizeBytes),
      'content-disposition': `${disposition}; filename*=UTF-8''${name}`,
    },
  })
}

/** Waits for the first bytes, so that a storage failure changes the status. */
async function begun(bytes: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
  const reader = bytes.getReader()
  const started = [await reader.read()]
  return pulledFrom(
    async () => started.pop() ?? reader.read(),
    (reason) => reader.cancel(reason),
  )
}

async function sheetsReply(files: Files, id: string, caller: Principal, request: Request): Promise<Reply> {
  const { fileId } = await files.get(id, caller)
  const headers = guardedHeaders(`"${fileId}-parsed"`)
  if (isKnown(request, headers)) return reply(null, { status: 304, headers })
  const body: ParsedSheets = { sheets: await files.sheets(id, caller) }
  return jsonReply(body, { headers })
}

function isKnown(request: Request, { etag }: Record<string, string>): boolean {
  const given = request.headers.get('if-none-match') ?? ''
  const known = given.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return known.includes('*') || known.some((tag) => tag === etag)
}
