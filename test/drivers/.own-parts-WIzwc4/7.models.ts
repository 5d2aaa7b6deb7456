import { InlayError } from 'inlay'
import type { ModelProvider } from 'inlay/agent'
import { scriptedModel } from 'inlay/testing'

const listing = (name: string, isDefault: boolean) => ({
  provider: 'company',
  providerType: 'company',
  providerDisplayName: 'Company',
  name,
  displayName: `Company ${name}`,
  contextTokens: 32_000,
  takesImages: false,
  isDefault,
})
const listings = [listing('small', true), listing('large', false)]

export const companyModels: ModelProvider = {
  list: async () => listings,
  async resolve(override) {
    const { model_provider: provider, model_version: name, temperature } = override ?? {}
    const chosen = listings.find((each) => each.name === (name ?? 'small') && each.provider === (provider ?? 'company'))
    if (!chosen) throw new InlayError('VALIDATION_ERROR', { message: 'There is no such model.' })
    const model = scriptedModel([['Hello.']])
    return { ...chosen, model, temperature: temperature ?? undefined }
  },
}

import { modelProviderConformance } from 'inlay/conformance'

for (const [title, run] of modelProviderConformance(() => companyModels)) test(title, run)

import type { Summarizer } from 'inlay'

/** The first sentence stands for the whole. */
export const firstSentence: Summarizer = async (request, signal) => {
  signal.throwIfAborted()
  const text = request.kind === 'document' ? request.document : request.chunk
  return (/^[^.!?]{0,500}[.!?]?/u.exec(text)?.[0] ?? '').toWellFormed()
}

import { summarizerConformance } from 'inlay/conformance'

for (const [title, run] of summarizerConformance(() => firstSentence)) test(title, run)

import type { InlayOptions } from 'inlay'

type ImageDescriber = NonNullable<InlayOptions['describeImage']>

/** Says what kind of image it is: ask a model that sees instead. */
export const kindOfImage: ImageDescriber = async (_bytes, mediaType, signal) => {
  signal.throwIfAborted()
  return `An image of the type ${mediaType}.`
}

import { imageDescriberConformance } from 'inlay/conformance'

const describerTests = imageDescriberConformance(() => ({
  describe: kindOfImage,
  images: [
    { bytes: Uint8Array.of(1, 2, 3), mediaType: 'image/png', word: 'png' },
    { bytes: Uint8Array.of(4, 5, 6), mediaType: 'image/jpeg', word: 'jpeg' },
  ],
}))
for (const [title, run] of describerTests) test(title, run)
