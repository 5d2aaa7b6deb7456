import { isAmong, maxLeaseMs } from '@inlay/records'
import { checkQuota, InlayError, isInlayError, type FileKind, type Principal } from '@inlay/protocol'
import { endsWithin } from '@inlay/scheduling'
import { idsOf, type ConversationDatabase } from '../tables/database.ts'
import type { Blobs } from './blobs.ts'
import type { IncomingFile, StoredFile, Services } from '@inlay/agent'
import type { Files, Upload, UploadDetails } from './contracts.ts'
import { cleanName, imageTypeOf, kindOf, mediaTypeOf } from './file-kinds.ts'
import { queueForIndex, queueRemoval, toStoredFile } from './file-records.ts'
import type { Readings } from './file-texts.ts'

export interface UploadOptions extends Pick<Services, 'now' | 'newId'> {
  readonly db: ConversationDatabase
  readonly blobs: Blobs
  readonly readings: Readings
  readonly maxBytes: number
  readonly maxStoredBytes?: number | undefined
  /** How long an upload waits for its files to be read, in milliseconds, so that most answers are final. */
  readonly waitMs: number
  /** NOT_FOUND unless the project is the owner's. */
  readonly checkProject: (projectId: number, ownerId: string) => Promise<void>
  readonly notify: () => void
}

export type Uploads = Pick<Files, 'upload' | 'keep' | 'keepPicture'>

/** Purpose of a file, stored in `is_listed`; only uploads are listed. */
export const cameFor = { action: 0, upload: 1, agentPicture: 2 } as const

/** Incomplete uploads are removed after this time. */
const arrivalMs = maxLeaseMs
/** Approximate number of tokens of an image, as providers count it. */
const imageTokens = 1_000

interface Arrived {
  readonly id: string
  readonly clientName: string
  readonly name: string
  readonly mediaType: string
  readonly kind: FileKind
}

type Rejected = Upload['rejected'][number]

/** Creates the upload. Until an upload is complete, its files are marked for removal. */
export function createUploads(options: UploadOptions): Uploads {
  const { db, now, checkProject, notify } = options
  const discard = async (files: readonly Arrived[]): Promise<void> => {
    for (const { id } of files) await queueRemoval(db, id)
    notify()
  }
  return {
    upload: async (files, { caller, details = () => ({ projectId: null, tempIds: {} }) }) => {
      const arrived: Arrived[] = []
      const rejected: Rejected[] = []
      try {
        for await (const file of files) {
          const outcome = await receive(file, caller, { ...options, isListed: cameFor.upload })
          if ('reason' in outcome) rejected.push(outcome)
          else arrived.push(outcome)
        }
        const { projectId } = details()
        if (projectId !== null) await checkProject(projectId, caller.id)
        await accept(db, arrived, projectId, now())
      } catch (error) {
        await discard(arrived)
        throw error
      }
      notify()
      const refused = await waitForReadings(arrived, options)
      const taken = arrived.filter(({ id }) => !refused.has(id))
      await discard(arrived.filter(({ id }) => refused.has(id)))
      for (const { id, name } of arrived) {
        const reason = refused.get(id)
        if (reason !== undefined) rejected.push({ name, reason })
      }
      return { files: await toAnswer(db, taken, details().tempIds), rejected }
    },
    keep: (file, caller) => keep(file, caller, cameFor.action),
    keepPicture: (file, caller) => keep(file, caller, cameFor.agentPicture),
  }
  async function keep(file: IncomingFile, caller: Principal, isListed: number): Promise<StoredFile> {
    const outcome = await receive(file, caller, { ...options, isListed })
    if ('reason' in outcome) throw new InlayError('INVALID_INPUT', { message: outcome.reason })
    if (isListed === cameFor.agentPicture && outcome.kind !== 'image') {
      await discard([outcome])
      throw new InlayError('INVALID_INPUT', { message: 'A picture of an agent has to be a PNG, JPEG or WebP image.' })
    }
    const row = await db
      .updateTable('inlay_files')
      .set({ status: 'COMPLETED', work: null, tokens: outcome.kind === 'image' ? imageTokens : null })
      .where('id', '=', outcome.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    return toStoredFile(row)
  }
}

/** Stores the bytes of one file, marked for removal until it is accepted. */
async function receive(
  file: IncomingFile,
  caller: Principal,
  { db, blobs, now, newId, maxBytes, maxStoredBytes: max, isListed }: UploadOptions & { readonly isListed: number },
): Promise<Arrived | Rejected> {
  const name = cleanName(file.name)
  const mediaType = mediaTypeOf(name, file.mediaType)
  const [id, fileId] = [newId(), newId()]
  await db
    .insertInto('inlay_files')
    .values({
      id,
      file_id: fileId,
      owner_id: caller.id,
      name,
      media_type: mediaType,
      kind: kindOf(mediaType),
      size_bytes: 0,
      status: 'PROCESSING',
      created_at: now(),
      is_listed: isListed,
      is_indexed: 0,
      work: 'arrive',
      due_at: now() + arrivalMs,
      attempts: 0,
    })
    .execute()
  const note = async (change: { size_bytes: number; media_type?: string; kind?: FileKind }): Promise<void> => {
    const set = { ...change, due_at: now() + arrivalMs }
    await db.updateTable('inlay_files').set(set).where('id', '=', id).execute()
    if (max === undefined) return
    // With what others have noted so far, so that all together store no more.
    const others = db.selectFrom('inlay_files').select((of) => of.fn.sum<string | null>('size_bytes').as('bytes'))
    const kept = others.where('id', '!=', id).where((of) => of.or([of('work', 'is', null), of('work', '!=', 'remove')]))
    const used = Number((await kept.executeTakeFirst())?.bytes ?? 0)
    checkQuota('maxStoredFileBytes', { used, added: change.size_bytes, max, unit: 'bytes of files' })
  }
  const refuse = async (reason: string): Promise<Rejected> => {
    await queueRemoval(db, id)
    return { name, reason }
  }
  try {
    const beforePiece = (bytes: number): Promise<void> => note({ size_bytes: bytes })
    const sizeBytes = await blobs.write(fileId, file.bytes, { maxBytes, beforePiece })
    if (sizeBytes === 0) return await refuse('The file is empty.')
    const type = trueType(mediaType, await blobs.start(fileId))
    if (type === undefined)
      return await refuse('The file is not the picture its name says: save it anew as PNG or JPEG.')
    await note({ size_bytes: sizeBytes, media_type: type, kind: kindOf(type) })
    return { id, clientName: file.name, name, mediaType: type, kind: kindOf(type) }
  } catch (error) {
    // If one of several uploads is refused, the others are stored; a picture comes alone.
    const isAlone = isListed === cameFor.agentPicture
    if (!isAlone && isInlayError(error) && error.code === 'PAYLOAD_TOO_LARGE') return refuse(error.message)
    await queueRemoval(db, id)
    throw error
  }
}

/** Image types are detected from the bytes, whatever the name; undefined when the bytes are not an image. */
function trueType(mediaType: string, start: Uint8Array): string | undefined {
  return imageTypeOf(start) ?? (kindOf(mediaType) === 'image' ? undefined : mediaType)
}

async function accept(
  db: ConversationDatabase,
  files: readonly Arrived[],
  projectId: number | null,
  time: number,
): Promise<void> {
  await db.transaction().execute(async (records) => {
    for (const { id, kind } of files) {
      const image = { status: 'COMPLETED', tokens: imageTokens, work: null } as const
      const text = { status: 'PROCESSING', tokens: null, work: 'read' } as const
      const state = { ...(kind === 'image' ? image : text), due_at: time, is_indexed: projectId === null ? 0 : 1 }
      const row = await records
        .updateTable('inlay_files')
        .set(state)
        .where('id', '=', id)
        .where('work', '=', 'arrive')
        .returning('id')
        .executeTakeFirst()
      // Happens only if a file took longer than an hour, or a clock was set.
      if (!row) throw new InlayError('BAD_REQUEST', { message: 'The upload took too long: send the files again.' })
      if (projectId !== null) {
        await records.insertInto('inlay_project_files').values({ project_id: projectId, id, linked_at: time }).execute()
      }
    }
    if (projectId !== null && files.length > 0) await queueForIndex(records, idsOf(files))
  })
}

/** Waits a little for the files to be read; returns the reasons of those that cannot be. */
async function waitForReadings(
  files: readonly Arrived[],
  { db, readings, waitMs }: UploadOptions,
): Promise<Map<string, string>> {
  const refused = new Map<string, string>()
  const texts = files.filter(({ kind }) => kind !== 'image')
  if (waitMs <= 0 || texts.length === 0) return refused
  const rows = await readRows(db, texts)
  const reading = rows.map(async (row) => {
    try {
      await readings.of(toStoredFile(row))
    } catch (error) {
      // Other failures are retried later.
      if (isInlayError(error) && error.code === 'INVALID_INPUT') refused.set(row.id, error.message)
    }
  })
  await endsWithin(Promise.all(reading), waitMs)
  // A copy: readings that end later add to the other one.
  return new Map(refused)
}

async function toAnswer(
  db: ConversationDatabase,
  files: readonly Arrived[],
  tempIds: UploadDetails['tempIds'],
): Promise<Upload['files']> {
  const rows = new Map((await readRows(db, files)).map((row) => [row.id, row]))
  return files.flatMap(({ id, clientName, name }) => {
    const row = rows.get(id)
    if (!row) return []
    const key = tempIdKeys([clientName, name], Number(row.size_bytes)).find((candidate) =>
      Object.hasOwn(tempIds, candidate),
    )
    return [{ ...toStoredFile(row), tempId: key === undefined ? null : (tempIds[key] ?? null) }]
  })
}

/** The number of characters of a name that clients put into their keys. */
const keyNameLength = 50

/** Clients name a file by its size and the beginning of its name, without a size that they do not know, or by name. */
const tempIdKeys = (names: readonly string[], size: number): readonly string[] =>
  names.flatMap((name) => [
    `${size}|${name.slice(0, keyNameLength)}`,
    `|${name.slice(0, keyNameLength)}`,
    `|${name}`,
    name,
  ])

async function readRows(db: ConversationDatabase, files: readonly Arrived[]) {
  if (files.length === 0) return []
  const ids = idsOf(files)
  return db
    .selectFrom('inlay_files')
    .selectAll()
    .where(isAmong(db, 'id', ids))
    .execute()
}
