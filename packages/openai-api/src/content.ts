import type { ClientFile } from '@inlay/agent'
import { isInlayError, storable } from '@inlay/protocol'
import { fromBase64, type RouteContext } from '@inlay/server'
import * as v from 'valibot'
import { invalid } from './errors.ts'

const fileFields = { file_id: v.nullish(v.string()), file_data: v.nullish(v.string()), filename: v.nullish(v.string()) }

/** A part of a message, as chat completions and responses send it. */
const partSchema = v.object({
  type: v.string(),
  text: v.nullish(v.string()),
  refusal: v.nullish(v.string()),
  image_url: v.nullish(v.union([v.string(), v.object({ url: v.string() })])),
  file: v.nullish(v.object(fileFields)),
  file_url: v.nullish(v.string()),
  ...fileFields,
})

export const contentSchema = v.nullish(v.union([v.string(), v.array(partSchema)]))

export type Content = v.InferOutput<typeof contentSchema>
type Part = v.InferOutput<typeof partSchema>

export interface ReadContent {
  readonly text: string
  readonly fileIds: readonly string[]
}

/** Files in memory are added to `files`; ids of uploaded files are passed on. @param param for errors */
export function readContent(content: Content, files: ClientFile[], param: string): ReadContent {
  if (typeof content === 'string') return { text: storable(content), fileIds: [] }
  const [texts, fileIds]: [string[], string[]] = [[], []]
  for (const [at, part] of (content ?? []).entries()) {
    const text = part.text ?? part.refusal
    if (text !== null && text !== undefined) texts.push(storable(text))
    else fileIds.push(readFile(part, files, `${param}.${at}`))
  }
  if (Math.max(files.length, fileIds.length) > maxFiles)
    throw invalid(param, `A request can have ${maxFiles} files at most: leave some out.`)
  return { text: texts.join('\n'), fileIds }
}

/** As in messages of Inlay's own API. */
const maxFiles = 1000

/** At most so many in a request, since they are fetched at once. */
const maxAddresses = 20

/** What a picture takes of the memory for requests, since nobody knows before how large it is. */
const pictureBytes = 10 * 2 ** 20

const pictureOf = ({ image_url: picture }: Part): string | undefined =>
  (typeof picture === 'string' ? picture : picture?.url) ?? undefined

/**
 * Fetches the pictures that messages name by addresses, and puts their data in place of these.
 * @throws INVALID_INPUT for one that cannot be fetched, RATE_LIMITED while others take the memory
 */
export async function withPictures<Message extends { readonly content?: Content }>(
  messages: readonly Message[],
  { parts, request, holdBytes }: Pick<RouteContext<unknown, unknown, unknown>, 'parts' | 'request' | 'holdBytes'>,
): Promise<readonly Message[]> {
  const isAddress = (url: string | undefined): url is string => url !== undefined && /^https?:/i.test(url)
  const partsOf = ({ content }: Message): readonly Part[] => (Array.isArray(content) ? content : [])
  const addresses = new Set(messages.flatMap(partsOf).map(pictureOf).filter(isAddress))
  const { fetchPicture } = parts
  if (!fetchPicture || addresses.size === 0) return messages
  if (addresses.size > maxAddresses)
    throw invalid('messages', `More than ${maxAddresses} pictures are named by addresses: send the data of the others.`)
  holdBytes(addresses.size * pictureBytes)
  const pictures = new Map<string | undefined, string>()
  const ended = new AbortController()
  const signal = AbortSignal.any([request.signal, ended.signal])
  await Promise.all(
    [...addresses].map(async (address) => {
      const picture = await fetchPicture(address, signal).catch((error: unknown) => {
        if (!isInlayError(error)) throw error
        throw invalid('messages', `The picture ${address.slice(0, 200)} was not fetched: ${error.message}`)
      })
      pictures.set(address, picture)
    }),
    // The others are of no use once one is missing.
  ).finally(() => ended.abort())
  return messages.map((message) => ({
    ...message,
    ...(Array.isArray(message.content) && {
      content: message.content.map((part) => ({ ...part, image_url: pictures.get(pictureOf(part)) ?? part.image_url })),
    }),
  }))
}

function readFile(part: Part, files: ClientFile[], param: string): string {
  const { file_id: id, file_data: data, filename } = part.file ?? part
  if (id) return uploadIdOf(id)
  const picture = pictureOf(part)
  const source = picture ?? data ?? part.file_url
  if (!source)
    throw invalid(param, `A part of type "${part.type.slice(0, 40)}" is not supported: send text, image_url or file.`)
  if (/^https?:/i.test(source))
    throw invalid(param, 'This address is not fetched: send the data itself, as "data:<type>;base64,<data>".')
  const [, type, base64] = /^data:([^;,]*)[^,]{0,200};base64,/.exec(source.slice(0, 400)) ?? []
  const bytes = fromBase64(base64 === undefined && type === undefined ? source : source.slice(source.indexOf(',') + 1))
  if (bytes === undefined) throw invalid(param, 'The data must be base64, such as "data:image/png;base64,<data>".')
  const mediaType = type || (picture === undefined ? 'application/octet-stream' : 'image/png')
  const name =
    storable(filename ?? '').slice(0, 200) || `${picture === undefined ? 'file' : 'picture'}-${files.length + 1}`
  const file = { id: crypto.randomUUID(), name, mediaType: mediaType.toLowerCase(), bytes }
  files.push(file)
  return file.id
}

/** The id by which this API shows an upload. */
export const toFileId = (id: string): string => `file-${id}`

export const uploadIdOf = (id: string): string => id.replace(/^file-/, '')
