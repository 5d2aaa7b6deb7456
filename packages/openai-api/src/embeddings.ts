import { InlayError, integer } from '@inlay/protocol'
import { routesOf, toBase64, type Route } from '@inlay/server'
import * as v from 'valibot'
import { invalid } from './errors.ts'

const route = routesOf('Embeddings', { scope: 'search', owner: 'none' })
const maxInputs = 2048
/** As in OpenAI's API: of one text, and of all in a request. */
const maxTokens = [8192, 300_000] as const
const tokensOf = (text: string): number => Math.ceil(text.length / 4)

export const embeddingRoutes: readonly Route[] = [
  route('POST /v1/embeddings', 'createEmbedding', 'Embed texts', {
    description: 'Vectors of the embedder that indexes the documents, made as for documents.',
    readsOnly: true,
    input: {
      body: {
        kind: 'json',
        limit: 'maxChatBytes',
        schema: v.object({
          model: v.string(),
          input: v.union([v.string(), v.array(v.unknown())]),
          encoding_format: v.nullish(v.picklist(['float', 'base64']), 'float'),
          dimensions: v.nullish(integer),
        }),
      },
    },
    answer: { description: 'A vector for each text, in their order; base64 is float32 in little-endian order.' },
    errors: ['PERSONA_NOT_FOUND', 'INVALID_INPUT', 'NOT_IMPLEMENTED', 'BAD_GATEWAY', 'GATEWAY_TIMEOUT'],
    async handle({ body, parts, request }) {
      const { configured: id } = await parts.knowledge.embedder()
      const dimensions = Number(id?.split('@').at(-1))
      if (id !== null) checkModel(body.model, id)
      if (body.dimensions && dimensions && body.dimensions !== dimensions) {
        const message = `The vectors of this model have ${dimensions} dimensions: leave out dimensions.`
        throw invalid('dimensions', message, 'unsupported_parameter')
      }
      const texts = readInput(body.input)
      const tokens = texts.reduce((sum, text) => sum + tokensOf(text), 0)
      if (tokens > maxTokens[1])
        throw invalid('input', `The texts have about ${tokens} tokens, more than ${maxTokens[1]}: send fewer at once.`)
      const vectors = await parts.knowledge.embed(texts, request.signal)
      const toForm = body.encoding_format === 'base64' ? toLittleEndian : (vector: Float32Array) => [...vector]
      return {
        object: 'list' as const,
        data: vectors.map((vector, index) => ({ object: 'embedding' as const, index, embedding: toForm(vector) })),
        model: body.model,
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      }
    },
  }),
]

/** @param id such as `provider/model@dimensions`, of which each part before `@` names it too */
function checkModel(model: string, id: string): void {
  const [whole = id] = id.split('@')
  const names = ['inlay', id, whole, whole.slice(whole.indexOf('/') + 1)]
  if (names.includes(model)) return
  throw new InlayError('PERSONA_NOT_FOUND', {
    message: `The model "${model.slice(0, 200)}" makes no embeddings here: take "${whole}".`,
    data: { param: 'model' },
  })
}

function readInput(input: string | readonly unknown[]): string[] {
  const texts = typeof input === 'string' ? [input] : input
  if (texts.length === 0 || texts.length > maxInputs) throw invalid('input', `Send 1 to ${maxInputs} texts.`)
  return texts.map((text) => {
    if (typeof text !== 'string')
      throw invalid('input', 'Tokens are not taken: send text (in LangChain, check_embedding_ctx_length=False).')
    if (text.trim() === '') throw invalid('input', 'A text is empty: leave it out.')
    if (tokensOf(text) > maxTokens[0])
      throw invalid('input', `A text has about ${tokensOf(text)} tokens, more than ${maxTokens[0]}: cut it into parts.`)
    return text
  })
}

const toLittleEndian = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  toBase64(new Uint8Array(buffer, byteOffset, byteLength))
