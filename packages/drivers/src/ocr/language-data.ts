import { createHash, randomUUID } from 'node:crypto'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InlayError, isInlayError } from '@inlay/protocol'

/** Language data that is downloaded: its code of two letters, and the SHA-256 of the packed file. */
const known: Readonly<Record<string, readonly [short: string, sha256: string]>> = {
  eng: ['en', '45b4cb346724ac1774f1c36f42f182b887bcdb28ebe63e6fff90ac41f3fcff91'],
  deu: ['de', '306c4280d0cbed46fbff727486bd43b92730181bae80f56941a091f363bdf28b'],
  fra: ['fr', 'd611139672b3752c7097e671e4a1d9209dfd37f2aeb081ef6487fba3351e9255'],
  spa: ['es', '40be52f97b5d4eb7460073dc1f94cd546b27150333c0bf854ed7e7132db6bceb'],
  ita: ['it', 'f702fcfad297ce028ede3626d1467b67939f23ff23595f9badd54681cf25a4d3'],
  por: ['pt', 'dacebc1386ddaaf8389f81094236cca0d690897cde693d48cbdaa881c86e2b4c'],
  nld: ['nl', 'a2d904b6ddc4feb0d31ecfcd7361a554102e7aa2e278c54f4fc029e0d0815571'],
}

/** How far the download of a language has come. */
export interface LanguageProgress {
  readonly language: string
  readonly bytes: number
}

export interface LanguageDataOptions {
  /** Holds `<language>.traineddata.gz`, or `<language>.traineddata` of each language. Filled beforehand, nothing is downloaded. */
  readonly folder: string
  /** Address of npm's files on jsDelivr or a mirror. Default `https://cdn.jsdelivr.net/npm`. */
  readonly endpoint?: string
  /** Never downloads. Default false. */
  readonly isOffline?: boolean
  readonly onProgress?: (progress: LanguageProgress) => void
  /** Sends the requests. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

/** Codes of Tesseract for `de`, `deu` or `deu+eng`. @throws INVALID_INPUT for anything else */
export function languagesOf(given: string | readonly string[]): string[] {
  const names = typeof given === 'string' ? given.split('+') : given
  const codes = names.map((name) => Object.entries(known).find(([, [short]]) => short === name)?.[0] ?? name)
  // The names of files: nothing may lead out of the folder.
  if (codes.length > 0 && codes.every((code) => /^[A-Za-z][\w-]{1,40}$/.test(code))) return [...new Set(codes)]
  throw new InlayError('INVALID_INPUT', { message: 'The languages of OCR must be codes such as eng, deu or eng+deu.' })
}

/** Tells whether the data is packed. @throws SERVICE_UNAVAILABLE when some is missing and cannot be downloaded */
export async function provideLanguages(
  languages: readonly string[],
  options: LanguageDataOptions,
  signal: AbortSignal,
): Promise<{ readonly isPacked: boolean }> {
  const isThere = (file: string): Promise<boolean> =>
    stat(join(options.folder, file)).then(
      () => true,
      () => false,
    )
  const plain = await Promise.all(languages.map((language) => isThere(`${language}.traineddata`)))
  if (plain.every(Boolean)) return { isPacked: false }
  for (const language of languages)
    if (!(await isThere(`${language}.traineddata.gz`))) await download(language, options, signal)
  return { isPacked: true }
}

/** A few megabytes, also over a slow line. */
const downloadTimeoutMs = 300_000

async function download(
  language: string,
  {
    folder,
    endpoint = 'https://cdn.jsdelivr.net/npm',
    isOffline,
    fetch = globalThis.fetch,
    onProgress,
  }: LanguageDataOptions,
  signal: AbortSignal,
): Promise<void> {
  const [, expected] = known[language] ?? []
  if (isOffline || expected === undefined)
    throw unavailable(
      `The data of the language ${language} is missing: put ${language}.traineddata.gz into the folder of OCR.`,
    )
  const path = join(folder, `${language}.traineddata.gz`)
  const partial = `${path}.${randomUUID()}.part`
  const base = endpoint.replace(/(?<!\/)\/+$/, '')
  const address = `${base}/@tesseract.js-data/${language}@1.0.0/4.0.0_best_int/${language}.traineddata.gz`
  try {
    const reply = await fetch(address, { signal: AbortSignal.any([signal, AbortSignal.timeout(downloadTimeoutMs)]) })
    if (!reply.ok) throw unavailable(`The data of the language ${language} could not be downloaded: ${reply.status}.`)
    const bytes = new Uint8Array(await reply.arrayBuffer())
    if (createHash('sha256').update(bytes).digest('hex') !== expected)
      throw unavailable(`The data of the language ${language} was damaged on the way: it differs from its checksum.`)
    await mkdir(folder, { recursive: true })
    await writeFile(partial, bytes)
    await rename(partial, path)
    onProgress?.({ language, bytes: bytes.byteLength })
  } catch (cause) {
    await rm(partial, { force: true })
    if (isInlayError(cause)) throw cause
    throw unavailable(
      `The data of the language ${language} could not be downloaded: put ${language}.traineddata.gz into the folder of OCR.`,
      cause,
    )
  }
}

const unavailable = (message: string, cause?: unknown): InlayError =>
  new InlayError('SERVICE_UNAVAILABLE', { message, cause })
