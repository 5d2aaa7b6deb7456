import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { InlayError, isInlayError, isJsonObject } from '@inlay/protocol'
import { modelFiles } from './catalogue.ts'

/** Progress of a download. */
export interface DownloadProgress {
  readonly model: string
  readonly file: string
  readonly bytes: number
  /** Undefined if the server does not send it. */
  readonly totalBytes: number | undefined
}

export interface ModelFolderOptions {
  /** Folder with a subfolder per model. If it is filled beforehand, nothing is downloaded. */
  readonly folder: string
  /** Address of the Hub or a mirror. Default: `HF_ENDPOINT`, else `https://huggingface.co`. */
  readonly endpoint?: string
  /** Branch, tag or commit. Default `main`; a commit keeps the vectors unchanged. */
  readonly revision?: string
  /** Whether downloads are off. Default false. */
  readonly isOffline?: boolean
  readonly onProgress?: (progress: DownloadProgress) => void
  /** Sends the requests. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

const checksumFile = 'checksums.json'

/**
 * Downloads are verified with the SHA-256 of the Hub, existing files with the checksums stored at their download.
 * @throws SERVICE_UNAVAILABLE when files are missing and cannot be downloaded, or differ from their checksums
 */
export async function modelFolder(repository: string, options: ModelFolderOptions): Promise<string> {
  const folder = join(options.folder, ...repository.split('/'))
  const noted = await readChecksums(join(folder, checksumFile))
  const checksums: Record<string, string> = { ...noted }
  for (const file of modelFiles) {
    const path = join(folder, file)
    const isThere = await stat(path).then(
      () => true,
      () => false,
    )
    if (isThere) checksums[file] = await verified(path, file, noted[file])
    else if (options.isOffline)
      throw unavailable(
        `The file ${file} of the model ${repository} is missing in the model folder, and downloads are off.`,
      )
    else checksums[file] = await download({ repository, file, path }, options)
  }
  const text = `${JSON.stringify(checksums, null, 2)}\n`
  // A prepared folder may be read-only.
  if (JSON.stringify(noted) !== JSON.stringify(checksums))
    await writeFile(join(folder, checksumFile), text).catch(() => {})
  return folder
}

async function readChecksums(path: string): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(path, 'utf8').catch(() => '{}')
  const value: unknown = JSON.parse(text)
  return isJsonObject(value) ? (value as Record<string, string>) : {}
}

async function verified(path: string, file: string, expected: string | undefined): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  const sum = hash.digest('hex')
  if (expected === undefined || sum === expected) return sum
  throw unavailable(
    `The file ${file} of a local model differs from its checksum: delete it, and it is downloaded again.`,
  )
}

async function download(
  { repository, file, path }: { readonly repository: string; readonly file: string; readonly path: string },
  { endpoint, revision = 'main', fetch = globalThis.fetch, onProgress }: ModelFolderOptions,
): Promise<string> {
  const base = (endpoint ?? process.env['HF_ENDPOINT'] ?? 'https://huggingface.co').replace(/(?<!\/)\/+$/, '')
  const address = `${base}/${repository}/resolve/${encodeURIComponent(revision)}/${file}`
  const partial = `${path}.${randomUUID()}.part`
  try {
    // Only the response of the Hub itself contains the checksum, not that of the storage it redirects to.
    const head = await fetch(address, { method: 'HEAD', redirect: 'manual' })
    const [expected] = /[\da-f]{64}/.exec(head.headers.get('x-linked-etag') ?? '') ?? []
    const reply = await fetch(address)
    if (!reply.ok || reply.body === null)
      throw unavailable(`The model ${repository} could not be downloaded: ${file} answered ${reply.status}.`)
    const length = Number(head.headers.get('x-linked-size') ?? reply.headers.get('content-length'))
    const totalBytes = length > 0 ? length : undefined
    await mkdir(dirname(path), { recursive: true })
    const hash = createHash('sha256')
    let bytes = 0
    const counted = async function* (pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const piece of pieces) {
        hash.update(piece)
        bytes += piece.byteLength
        onProgress?.({ model: repository, file, bytes, totalBytes })
        yield piece
      }
    }
    // The types of web streams and of Node differ.
    const body = Readable.fromWeb(reply.body as Parameters<typeof Readable.fromWeb>[0])
    await pipeline(body, counted, createWriteStream(partial))
    const sum = hash.digest('hex')
    if (expected !== undefined && sum !== expected)
      throw unavailable(`The model ${repository} was damaged on the way: ${file} differs from its checksum.`)
    await rename(partial, path)
    return sum
  } catch (cause) {
    await rm(partial, { force: true })
    if (isInlayError(cause)) throw cause
    throw unavailable(`The model ${repository} could not be downloaded: put its files into the model folder.`, cause)
  }
}

const unavailable = (message: string, cause?: unknown): InlayError =>
  new InlayError('SERVICE_UNAVAILABLE', { message, cause })
