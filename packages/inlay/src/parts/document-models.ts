import type { ModelProvider } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import type { ImageDescriber, ImageReader, Summarizer, SummaryRequest } from '@inlay/knowledge'

type Model = Awaited<ReturnType<ModelProvider['resolve']>>['model']
type Prompt = Parameters<Model['doGenerate']>[0]['prompt']

const describe =
  'Describe this image for people who search for it: what it shows, what kind of image it is, and every word that can ' +
  'be read on it, as it is written. Answer with the description alone, in at most 150 words, in the language of the words ' +
  'on it, else in English.'

/** Describes images with the default model; undefined if it does not accept images. */
export async function imageDescriber(models: ModelProvider): Promise<ImageDescriber | undefined> {
  const listed = await models.list()
  if (!listed.some(({ isDefault, takesImages }) => isDefault && takesImages)) return undefined
  return (data, mediaType, signal) => {
    const image = { type: 'file', mediaType, data: { type: 'data', data } } as const
    return answerOf(models, [{ role: 'user', content: [{ type: 'text', text: describe }, image] }], signal)
  }
}

const transcribe =
  'Write down all text on this page exactly as it stands, as Markdown: headings, paragraphs, lists, and tables as tables, ' +
  'in the order they are read. Leave nothing out, add nothing, do not translate, and answer with the text alone. If there ' +
  'is no text, answer with nothing.'

/** A page of small print has about 1,500 words. */
const pageTokens = 6000

export function imageTextReader(models: ModelProvider): ImageReader {
  return {
    async prepare() {
      const { takesImages, quotesOnly } = await models.resolve()
      if (takesImages && !quotesOnly) return
      throw new InlayError('UNSUPPORTED', {
        message:
          'Scans are to be read by the language model (ocr "model"), but the default model accepts no images: choose one that does, or OCR with tesseract.',
      })
    },
    async read(data, mediaType, signal) {
      signal.throwIfAborted()
      const image = { type: 'file', mediaType, data: { type: 'data', data } } as const
      const prompt: Prompt = [{ role: 'user', content: [{ type: 'text', text: transcribe }, image] }]
      const { text, finish } = await generate(models, prompt, signal, pageTokens)
      // A text that is cut off would pass for the whole page.
      if (finish === 'length' || finish === 'content-filter')
        throw new InlayError('INVALID_INPUT', {
          message:
            finish === 'length'
              ? 'The page has more text than the model writes at once: scan it in parts, or use OCR with tesseract.'
              : 'The model refused to read the page: use OCR with tesseract.',
        })
      // Some models put all of it into a block of code.
      return /^\s*```(?:markdown|md|text)?\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text
    },
  }
}

export function modelSummarizer(models: ModelProvider): Summarizer {
  return (request, signal) =>
    answerOf(models, [{ role: 'user', content: [{ type: 'text', text: questionOf(request) }] }], signal)
}

function questionOf(request: SummaryRequest): string {
  const document = `Title: ${request.title}\n\n<document>\n${request.document}\n</document>`
  if (request.kind === 'document')
    return (
      `${document}\n\nSay in one or two sentences what this document is about and what it is for, with the names and ` +
      'terms that people would search for. Answer with these sentences alone, in the language of the document.'
    )
  const about = request.summary === '' ? '' : `\n\nAbout the document: ${request.summary}`
  return (
    `${document}${about}\n\n<part>\n${request.chunk}\n</part>\n\nSay in one or two sentences what this part of the ` +
    'document is about, with what one has to know from the rest to understand it: whom or what it speaks of, when, and ' +
    'under which heading. Answer with these sentences alone, in the language of the document.'
  )
}

/** Sufficient for the prompts above; longer output is truncated. */
const answerTokens = 400

async function answerOf(models: ModelProvider, prompt: Prompt, signal: AbortSignal): Promise<string> {
  return (await generate(models, prompt, signal, answerTokens)).text
}

async function generate(
  models: ModelProvider,
  prompt: Prompt,
  signal: AbortSignal,
  maxOutputTokens: number,
): Promise<{ readonly text: string; readonly finish: string }> {
  const { model, quotesOnly } = await models.resolve()
  if (quotesOnly) return { text: '', finish: 'stop' }
  const { content, finishReason } = await model.doGenerate({ prompt, maxOutputTokens, abortSignal: signal })
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  return { text, finish: finishReason.unified }
}
