import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelProvider } from '@inlay/agent'
import { modelProviderConformance } from '@inlay/conformance'
import { builtInModel } from '@inlay/extractive'
import { InlayError } from '@inlay/protocol'
import { describe, test } from 'vitest'

/** The provider that the guide prints. */
function providerOfGuide(): (model: LanguageModelV4) => ModelProvider {
  const guide = readFileSync('docs/1.guide/5.models.md', 'utf8')
  const block = /```ts\n([^`]*export function singleModel[^`]*)```/.exec(guide)![1]!
  const code = stripTypeScriptTypes(block.replace(/^import .*$/gm, '')).replace('export function', 'return function')
  return new Function('InlayError', code)(InlayError) as (model: LanguageModelV4) => ModelProvider
}

describe('the model provider of the guide', () => {
  for (const [title, run] of modelProviderConformance(() => providerOfGuide()(builtInModel.make()))) test(title, run)
})
