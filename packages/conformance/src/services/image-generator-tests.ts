import { isInlayError, type ErrorCode } from '@inlay/protocol'
import type { ImageGenerator, ImageShape } from '@inlay/agent'
import { must, mustAbort, mustEqual, rejectionOf, toTests, type Checks, type ConformanceTest } from '../contract.ts'

/**
 * How an image service behaves while a test runs. `well`: it draws; `policy`: its content policy forbids the
 * prompt; `bad key`: it refuses the key; `busy`: it limits requests and asks for 7 seconds of patience; `failing`: it
 * breaks; `garbled`: it sends no JSON; `other`: it sends something else than a picture; `silent`: it never answers.
 */
export type ImageServiceMood = 'well' | 'policy' | 'bad key' | 'busy' | 'failing' | 'garbled' | 'other' | 'silent'

export interface ImageServiceRequest {
  readonly prompt: string
  readonly width: number
  readonly height: number
  /** How many references came with it. Absent: not compared. */
  readonly references?: number
}

/** A generator to test, and the requests that its service received. */
export interface ImageGeneratorUnderTest {
  readonly generate: ImageGenerator
  readonly requests: () => readonly ImageServiceRequest[]
}

/**
 * Gives the generator under test before a stand-in of its service in the mood asked for, which draws the PNG it is given.
 * The generator should end a call to a silent service soon, and need not wait between tries.
 */
export type MakeImageGenerator = (service: {
  readonly mood: ImageServiceMood
  readonly png: Uint8Array
}) => ImageGeneratorUnderTest | Promise<ImageGeneratorUnderTest>

/** The smallest complete PNG: one pixel. */
const png = pngOf('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==')
/** The same in another colour. */
const otherPng = pngOf(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNQaFD4DwADRAHASPQ37QAAAABJRU5ErkJggg==',
)

function pngOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

const shapes: readonly ImageShape[] = ['square', 'portrait', 'landscape']

/**
 * Requirements of every `ImageGenerator`, as a list for any test runner.
 * @example for (const [title, run] of imageGeneratorConformance(make)) test(title, run)
 */
export function imageGeneratorConformance(make: MakeImageGenerator): ConformanceTest[] {
  return [
    ...toTests(byteCheck, (check) => check(make)),
    ...toTests(checks, async (check) => check(await make({ mood: 'well', png }))),
    ...codes.map(([mood, expected]): ConformanceTest => [
      `a service that is ${mood} is told as ${expected.join(' or ')}, in words of our own`,
      async () => {
        const { generate } = await make({ mood, png })
        const error = await generate({ prompt: 'a secret prompt', shape: 'square', references: [] }).catch(
          (reason: unknown) => reason,
        )
        must(isInlayError(error), 'the call rejects with an InlayError')
        must(expected.includes(error.code), `the code is ${error.code}`)
        must(!error.message.includes('secret'), 'the message does not repeat the prompt')
      },
    ]),
  ]
}

const byteCheck: Checks<MakeImageGenerator> = {
  async 'a picture comes whole, with the media type of its bytes'(make) {
    for (const drawn of [png, otherPng, png]) {
      const { generate } = await make({ mood: 'well', png: drawn })
      const [first] = await generate({ prompt: 'a heron', shape: 'square', references: [] })
      must(first !== undefined, 'there is a picture')
      mustEqual([...first.bytes], [...drawn], 'bytes')
      mustEqual(first.mediaType, 'image/png', 'media type')
    }
  },
}

const checks: Checks<ImageGeneratorUnderTest> = {
  async 'calls side by side each send their own prompt'({ generate, requests }) {
    const prompts = Array.from({ length: 5 }, (_, at) => `picture ${at}`)
    await Promise.all(prompts.map((prompt) => generate({ prompt, shape: 'square', references: [] })))
    const sent = requests().map(({ prompt }) => prompt)
    mustEqual(sent.toSorted(), prompts, 'prompts')
  },
  async 'a prompt reaches the service as it was given'({ generate, requests }) {
    const prompts = ['a "grey" heron & 50% reeds', 'アオサギ 🪶\nby night']
    for (const prompt of prompts) await generate({ prompt, shape: 'square', references: [] })
    mustEqual(
      requests().map(({ prompt }) => prompt),
      prompts,
      'prompts',
    )
  },
  async 'each shape asks for such an outline'({ generate, requests }) {
    for (const shape of shapes) await generate({ prompt: 'x', shape, references: [] })
    mustEqual(
      requests().map(({ width, height }) => Math.sign(width - height)),
      [0, -1, 1],
      'which side is longer',
    )
  },
  async 'references are used, or refused with UNSUPPORTED; never left out in silence'({ generate, requests }) {
    const references = [png, otherPng].map((bytes) => ({ bytes, mediaType: 'image/png' }))
    const error = await rejectionOf(generate({ prompt: 'x', shape: 'square', references }))
    if (error === undefined) {
      mustEqual(requests().length, 1, 'calls')
      mustEqual(requests()[0]?.references ?? references.length, references.length, 'references sent')
    } else must(isInlayError(error) && error.code === 'UNSUPPORTED', 'UNSUPPORTED')
  },
  async 'an aborted call rejects with the reason, before it began and while it waits'({ generate }) {
    await mustAbort((signal) => generate({ prompt: 'x', shape: 'square', references: [], signal }))
  },
}

const codes: readonly (readonly [mood: ImageServiceMood, codes: readonly ErrorCode[]])[] = [
  ['policy', ['CONTENT_POLICY']],
  ['bad key', ['AUTH_ERROR', 'PERMISSION_DENIED']],
  ['busy', ['RATE_LIMIT']],
  ['failing', ['API_ERROR', 'SERVICE_UNAVAILABLE']],
  ['garbled', ['BAD_GATEWAY']],
  ['other', ['BAD_GATEWAY']],
  ['silent', ['GATEWAY_TIMEOUT']],
]
