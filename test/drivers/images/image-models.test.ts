import { createOpenAI } from '@ai-sdk/openai'
import type { ImageModelV4 } from '@ai-sdk/provider'
import { imageGeneratorConformance } from '@inlay/conformance'
import { aiSdkImages, type AiSdkImagesOptions } from '@inlay/drivers/ai-sdk-images'
import { egress } from '@inlay/drivers/egress'
import { openaiImages, type OpenaiImagesOptions } from '@inlay/drivers/openai-images'
import { afterEach, describe, expect, test } from 'vitest'
import { startImages, type ImagesOptions, type ImagesStandIn } from '../../stand-in/images.ts'

const apiKey = 'sk-image-0123456789'
const png = Uint8Array.from(Buffer.from('89504e470d0a1a0a0000000d', 'hex'))
const standIns: ImagesStandIn[] = []
afterEach(async () => {
  for (const standIn of standIns.splice(0)) await standIn.close()
})

async function start(options: Partial<ImagesOptions> = {}): Promise<ImagesStandIn> {
  const standIn = await startImages({ png, apiKey, ...options })
  standIns.push(standIn)
  return standIn
}

const openai = (standIn: ImagesStandIn, options: Partial<OpenaiImagesOptions> = {}) =>
  openaiImages({ baseUrl: standIn.baseUrl, apiKey, model: 'local-draw', sleep: async () => {}, ...options })

const sdkModel = (standIn: ImagesStandIn): ImageModelV4 =>
  createOpenAI({ baseURL: standIn.baseUrl, apiKey }).imageModel('gpt-image-1')

const aiSdk = (standIn: ImagesStandIn, options: Partial<AiSdkImagesOptions> = {}) =>
  aiSdkImages({ model: sdkModel(standIn), sleep: async () => {}, ...options })

const requestsOf = ({ seen }: ImagesStandIn) =>
  seen.map(({ values, files }) => {
    const [width = 0, height = 0] = String(values['size']).split('x').map(Number)
    return { prompt: String(values['prompt']), width, height, references: files.length }
  })

const square = { shape: 'square', references: [] } as const

describe.each([
  ['openai-images', openai],
  ['ai-sdk-images', aiSdk],
] as const)('%s, as every image generator', (_name, make) => {
  const tests = imageGeneratorConformance(async (service) => {
    const standIn = await start(service)
    const generate = make(standIn, service.mood === 'silent' ? { timeoutMs: 50 } : {})
    return { generate, requests: () => requestsOf(standIn) }
  })
  test.each(tests)('%s', (_title, run) => run())
})

describe('openai-images', () => {
  test('sends what the endpoint takes, and no more', async () => {
    const standIn = await start({ revisedPrompt: 'a grey heron' })
    const images = await openai(standIn, { parameters: { quality: 'low' } })({ prompt: 'a heron', ...square })
    expect(images).toEqual([{ bytes: expect.anything(), mediaType: 'image/png', revisedPrompt: 'a grey heron' }])
    expect(standIn.seen).toEqual([
      {
        path: '/v1/images/generations',
        authorization: `Bearer ${apiKey}`,
        files: [],
        values: {
          model: 'local-draw',
          prompt: 'a heron',
          n: 1,
          size: '1024x1024',
          response_format: 'b64_json',
          quality: 'low',
        },
      },
    ])
  })

  test('asks models as they want to be asked', async () => {
    const standIn = await start()
    await openai(standIn, { model: 'gpt-image-1' })({ ...square, prompt: 'x', shape: 'portrait' })
    await openai(standIn, { model: 'dall-e-3' })({ ...square, prompt: 'x', shape: 'portrait' })
    expect(standIn.seen.map(({ values }) => [values['size'], values['response_format']])).toEqual([
      ['1024x1536', undefined],
      ['1024x1792', 'b64_json'],
    ])
  })

  test('references go to the editing endpoint as a form', async () => {
    const standIn = await start()
    const reference = { bytes: png, mediaType: 'image/png' }
    const generate = openai(standIn, { model: 'gpt-image-1' })
    await generate({ prompt: 'again', shape: 'square', references: [reference] })
    await generate({ prompt: 'both', shape: 'square', references: [reference, reference] })
    const file = { type: 'image/png', bytes: png.length }
    expect(standIn.seen).toMatchObject([
      { path: '/v1/images/edits', values: { prompt: 'again', n: '1' }, files: [{ field: 'image', ...file }] },
      {
        files: [
          { field: 'image[]', ...file },
          { field: 'image[]', ...file },
        ],
      },
    ])
  })

  test('a picture that is answered as an address is fetched through the egress client alone', async () => {
    const standIn = await start({ asUrl: true })
    const open = egress({ allowHosts: [standIn.host] })
    const [image] = await openai(standIn, { egress: open, responseFormat: 'url' })({ prompt: 'x', ...square })
    expect([...(image?.bytes ?? [])]).toEqual([...png])
    await expect(openai(standIn, { egress: egress() })({ prompt: 'x', ...square })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
    await expect(openai(standIn)({ prompt: 'x', ...square })).rejects.toMatchObject({ code: 'BAD_GATEWAY' })
  })

  test('a data address holds the picture itself', async () => {
    const url = `data:image/png;base64,${Buffer.from(png).toString('base64')}`
    const generate = openaiImages({ model: 'm', fetch: async () => Response.json({ data: [{ url }] }) })
    expect(await generate({ prompt: 'x', ...square })).toMatchObject([{ mediaType: 'image/png' }])
  })

  test('what calls itself a picture and is a script is refused', async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>x()</script></svg>').toString('base64')
    const generate = openaiImages({ model: 'm', fetch: async () => Response.json({ data: [{ b64_json: svg }] }) })
    await expect(generate({ prompt: 'x', ...square })).rejects.toMatchObject({ code: 'BAD_GATEWAY' })
  })

  test('options that cannot work are refused at once', () => {
    expect(() => openaiImages({ model: '' })).toThrow('name')
    expect(() => openaiImages({ model: 'm', baseUrl: 'nowhere' })).toThrow(/base URL/)
  })
})

describe('ai-sdk-images', () => {
  test('sends sizes and the prompt as the provider does, and tells what it was revised to', async () => {
    const standIn = await start({ revisedPrompt: 'a grey heron' })
    const images = await aiSdk(standIn)({ prompt: 'a heron', shape: 'landscape', references: [] })
    expect(images).toMatchObject([{ mediaType: 'image/png', revisedPrompt: 'a grey heron' }])
    expect(standIn.seen).toMatchObject([{ values: { model: 'gpt-image-1', size: '1536x1024' } }])
  })

  test('models that take ratios get them, and no size where none is wanted', async () => {
    const calls: unknown[] = []
    const model: ImageModelV4 = {
      ...sdkModel(await start()),
      specificationVersion: 'v4',
      provider: 'p',
      modelId: 'm',
      maxImagesPerCall: 1,
      doGenerate: async ({ size, aspectRatio }) => {
        calls.push([size, aspectRatio])
        return { images: [png], warnings: [], response: { timestamp: new Date(0), modelId: 'm', headers: {} } }
      },
    }
    const generate = aiSdkImages({ model, sizes: null })
    await generate({ prompt: 'x', shape: 'portrait', references: [] })
    expect(calls).toEqual([[undefined, '3:4']])
    const references = [{ bytes: png, mediaType: 'image/png' }]
    await expect(generate({ prompt: 'x', shape: 'square', references })).rejects.toMatchObject({ code: 'UNSUPPORTED' })
  })
})
