import { toMissing } from '../../installed.ts'
import type { LanguageModelV4FilePart, LanguageModelV4Prompt, LanguageModelV4TextPart } from '@ai-sdk/provider'
import { createHash } from 'node:crypto'
import { leastLimit } from '../tools/tool-rules.ts'
import type { Step } from './step.ts'

type Picture = LanguageModelV4FilePart

export const overBytes = (chars: number): string => `pictures over ${chars} bytes`
export const overPixels = (side: number): string => `pictures over ${side} pixels`

// Error messages of OpenAI and vLLM, DeepSeek, OpenRouter, Ollama, llama.cpp, LM Studio, Mistral and Groq.
const noPictures =
  /image_url is only supported|unknown variant .{0,3}image_url|support image input|(?:not|n't) support (?:images?|vision|multi.?modal)|image input (?:modality )?is not (?:supported|enabled)|not a multimodal model|content'? must be a string/i

/** Shrinks or leaves out the pictures that a refusal names. */
export const pictureStep: Step = {
  read: ({ status, text, call, refused }) => {
    const pictures = picturesOf(call.prompt)
    if (pictures.length === 0) return []
    if (noPictures.test(text)) return ['pictures']
    if (status === 404 || !/\bimages?\b|image_url|\bpictures?\b/i.test(text)) return []
    const limit = statedLimit(text)
    return limit === undefined || refused.has(limit) ? pictures.map(nameOf) : [limit]
  },
  mend: async (call, refused) => {
    const pictures = picturesOf(call.prompt)
    if (refused.size === 0 || pictures.length === 0) return call
    const bounds = { chars: leastLimit(refused, overBytes), side: leastLimit(refused, overPixels) }
    const isRefused = (picture: Picture): boolean => refused.has('pictures') || refused.has(nameOf(picture))
    const prompt = await withPictures(call.prompt, async (picture) =>
      isRefused(picture)
        ? note(picture, 'the provider of the model does not take it')
        : ((await fitted(picture, bounds)) ?? note(picture, 'it is too large for the model')),
    )
    return { ...call, prompt }
  },
}

/** Leaves out the pictures of a conversation that is refused without a reason. */
export const allPictures: Step = {
  read: ({ call }) => picturesOf(call.prompt).map(nameOf),
}

function statedLimit(text: string): string | undefined {
  const smallest = (pattern: RegExp, unitOf: (match: RegExpMatchArray) => number): number =>
    Math.min(...[...text.matchAll(pattern)].map((match) => Number(match[1]) * unitOf(match)))
  const side = smallest(/\b(\d{3,5}) ?(?:pixels|px)\b/gi, () => 1)
  if (Number.isFinite(side)) return overPixels(side)
  const chars = Math.min(
    smallest(/\b(\d{5,12}) bytes\b/gi, () => 1),
    smallest(/\b(\d{1,6}(?:\.\d{1,6})?) ?([km])i?b\b/gi, ([, , unit]) => (unit?.toLowerCase() === 'k' ? 1e3 : 1e6)),
  )
  return Number.isFinite(chars) ? overBytes(Math.floor(chars)) : undefined
}

interface Bounds {
  readonly chars: number
  readonly side: number
}

const isPicture = (part: { readonly type: string }): part is Picture =>
  part.type === 'file' && 'mediaType' in part && String(part.mediaType).startsWith('image')

function picturesOf(prompt: LanguageModelV4Prompt): Picture[] {
  return prompt.flatMap((message) => {
    if (message.role === 'user') return message.content.filter(isPicture)
    if (message.role !== 'tool') return []
    return message.content.flatMap((part) =>
      part.type === 'tool-result' && part.output.type === 'content' ? part.output.value.filter(isPicture) : [],
    )
  })
}

async function withPictures(
  prompt: LanguageModelV4Prompt,
  change: (picture: Picture) => Promise<Picture | LanguageModelV4TextPart>,
): Promise<LanguageModelV4Prompt> {
  const changed = <Part extends { readonly type: string }>(parts: readonly Part[]) =>
    Promise.all(parts.map((part) => (isPicture(part) ? change(part) : part)))
  return Promise.all(
    prompt.map(async (message) => {
      if (message.role === 'user') return { ...message, content: await changed(message.content) }
      if (message.role !== 'tool') return message
      const content = message.content.map(async (part) =>
        part.type === 'tool-result' && part.output.type === 'content'
          ? { ...part, output: { ...part.output, value: await changed(part.output.value) } }
          : part,
      )
      return { ...message, content: await Promise.all(content) }
    }),
  )
}

function note({ filename }: Picture, reason: string): LanguageModelV4TextPart {
  const name = filename === undefined ? '' : ` "${filename.replace(/[\s"]+/g, ' ').slice(0, 70)}"`
  return { type: 'text', text: `[The picture${name} is left out, since ${reason}. Tell the person so.]` }
}

/** The picture in bytes or base64; undefined for one that is only referred to. */
const dataOf = ({ data }: Picture): Uint8Array | string | undefined => (data.type === 'data' ? data.data : undefined)

function charsOf(picture: Picture): number {
  const data = dataOf(picture) ?? ''
  return typeof data === 'string' ? data.length : Math.ceil(data.length / 3) * 4
}

/** What a picture is remembered by, the same in each request. */
function nameOf(picture: Picture): string {
  const data = dataOf(picture) ?? JSON.stringify(picture.data)
  const hash = createHash('sha256').update(data).digest('hex').slice(0, 12)
  return `a picture of ${(charsOf(picture) / 1.333e6).toFixed(1)} MB (${hash})`
}

/** Fitted pictures, since each step of an answer sends them again. */
const fittedPictures = new WeakMap<Uint8Array, Map<string, Promise<Picture | undefined>>>()

/** The picture within bounds; undefined if it cannot be made to fit. */
async function fitted(picture: Picture, bounds: Bounds): Promise<Picture | undefined> {
  const data = dataOf(picture)
  const isLarge = charsOf(picture) > bounds.chars
  if (data === undefined || (!isLarge && !Number.isFinite(bounds.side))) return picture
  const bytes = typeof data === 'string' ? Buffer.from(data, 'base64') : data
  const known = fittedPictures.get(bytes) ?? new Map<string, Promise<Picture | undefined>>()
  fittedPictures.set(bytes, known)
  const key = `${bounds.chars} ${bounds.side}`
  // A picture that nothing can read is for the server to judge, unless it is too large in any case.
  const shrinking = known.get(key) ?? shrink(picture, bytes, bounds).catch(() => (isLarge ? undefined : picture))
  known.set(key, shrinking)
  return shrinking
}

/** Providers scale larger pictures down to about this many pixels themselves. */
const usefulSide = 2_048

/** @throws where `sharp` is not installed, or cannot read the picture */
async function shrink(picture: Picture, bytes: Uint8Array, bounds: Bounds): Promise<Picture | undefined> {
  const { default: sharp } = await import('sharp').catch(toMissing)
  const { width = 0, height = 0 } = await sharp(bytes).metadata()
  if (charsOf(picture) <= bounds.chars && Math.max(width, height) <= bounds.side) return picture
  for (let side = Math.min(usefulSide, bounds.side); side >= 256; side = Math.floor(side / 2)) {
    const resized = sharp(bytes).rotate().resize(side, side, { fit: 'inside', withoutEnlargement: true })
    const data: Uint8Array = await resized.flatten({ background: 'white' }).jpeg({ quality: 85 }).toBuffer()
    const smaller: Picture = { ...picture, mediaType: 'image/jpeg', data: { type: 'data', data } }
    if (charsOf(smaller) <= bounds.chars) return smaller
  }
  return undefined
}
