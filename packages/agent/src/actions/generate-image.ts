import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { InlayError } from '@inlay/protocol'
import type { GeneratedImage } from '@inlay/protocol'
import type { Action, ActionTurn, TurnFiles } from '../contracts/action.ts'
import { cutToTokens } from '../prompt/context-window.ts'
import type { ImageGenerator, ImageRequest, ImageShape, MadeImage } from '../contracts/image-generator.ts'

export interface GenerateImageOptions {
  readonly generate: ImageGenerator
  /** Path at which clients fetch a stored file. Default `/api/chat/file/{id}`. */
  readonly fileUrl?: (fileId: string) => string
  /** Calls a function repeatedly until the returned function is called. Default: a timer. */
  readonly repeat?: (intervalMs: number, call: () => void) => () => void
}

export interface GenerateImageInput {
  readonly prompt: string
  readonly shape?: ImageShape
  readonly reference_image_file_ids?: readonly string[] | null
}

const heartbeatMs = 5_000
const maxImages = 10
/** Maximum length of a prompt shown to clients: lines of a stream are bounded. */
const promptCharacters = 8_000
const maxReferences = 8
const referenceBytes = 20 * 2 ** 20

const inputSchema = v.object({
  prompt: v.pipe(
    v.string(),
    v.regex(/\S/),
    v.description('What the picture shows, in full: subject, style, colours, words that stand on it'),
  ),
  shape: v.optional(
    v.pipe(v.picklist(['square', 'portrait', 'landscape']), v.description('Outline of the picture')),
    'square',
  ),
  reference_image_file_ids: v.optional(
    v.nullable(
      v.pipe(
        v.array(v.string()),
        v.maxLength(maxReferences),
        v.description('Ids of attached pictures to start from; leave out to draw anew'),
      ),
    ),
  ),
})

/** While the model draws, clients get a heartbeat packet at once and every five seconds. */
export function createGenerateImage(options: GenerateImageOptions): Action<GenerateImageInput> {
  const { generate, fileUrl = (id) => `/api/chat/file/${id}`, repeat = byTimer } = options
  return {
    id: 4,
    name: 'generate_image',
    displayName: 'Image Generation',
    description: 'Draws a picture from a description and shows it to the user. Only when a picture is asked for.',
    builtIn: 'ImageGenerationTool',
    tellsFailure: true,
    input: toStandardJsonSchema(inputSchema),
    isLast: true,
    start: () => ({ type: 'image_generation_start' }),
    run: async (input, turn) => {
      const { prompt, shape = 'square' } = input
      const beat = (): void => turn.emit({ type: 'image_generation_heartbeat' })
      beat()
      const stop = repeat(heartbeatMs, beat)
      try {
        const files = storedFiles(turn)
        const references = await readReferences(input.reference_image_file_ids ?? [], files)
        const generated = await generate({ prompt, shape, references, signal: turn.signal })
        turn.signal.throwIfAborted()
        const images: GeneratedImage[] = []
        for (const image of generated.slice(0, maxImages)) {
          const fileId = await keep(image, files)
          const revised = (image.revisedPrompt ?? prompt).slice(0, promptCharacters).toWellFormed()
          images.push({ file_id: fileId, url: fileUrl(fileId), revised_prompt: revised, shape })
        }
        if (images.length === 0) throw new InlayError('BAD_GATEWAY', { message: 'The image model gave no picture.' })
        turn.emit({ type: 'image_generation_final', images })
        return { text: toText(images), images }
      } finally {
        stop()
      }
    },
  }
}

function byTimer(intervalMs: number, call: () => void): () => void {
  const timer = setInterval(call, intervalMs)
  return () => clearInterval(timer)
}

function storedFiles({ files }: ActionTurn): TurnFiles {
  if (files) return files
  throw new InlayError('UNSUPPORTED', { message: 'This installation keeps no files, so it can show no pictures.' })
}

async function readReferences(ids: readonly string[], files: TurnFiles): Promise<ImageRequest['references']> {
  const references: ImageRequest['references'][number][] = []
  for (const id of new Set(ids)) {
    const { file, bytes } = await files.open(id)
    if (file.kind !== 'image' || file.sizeBytes > referenceBytes) {
      await bytes.cancel()
      throw new InlayError('INVALID_INPUT', {
        message: `A reference has to be a picture of at most ${referenceBytes / 2 ** 20} MiB.`,
      })
    }
    references.push({ bytes: new Uint8Array(await new Response(bytes).arrayBuffer()), mediaType: file.mediaType })
  }
  return references
}

async function keep({ bytes, mediaType }: MadeImage, files: TurnFiles): Promise<string> {
  const extension = /^image\/(png|jpeg|webp)$/.exec(mediaType)?.[1] ?? 'png'
  const kept = await files.keep({
    name: `generated-image.${extension === 'jpeg' ? 'jpg' : extension}`,
    mediaType,
    bytes: (async function* () {
      yield bytes
    })(),
  })
  return kept.fileId
}

/** Reserved for the final prompt of each image. */
const promptTokens = 150
const shownNote =
  'The user sees these pictures already: say in a sentence or two what was made, without addresses or file ids.'

function toText(images: readonly GeneratedImage[]): string {
  const generated = images.map(({ file_id: id, revised_prompt: prompt, shape }) => ({
    file_id: id,
    prompt: cutToTokens(prompt, promptTokens),
    shape,
  }))
  return JSON.stringify({ images: generated, note: shownNote })
}
