import { expect, test } from 'vitest'
import { modelWords } from '../../../playground/server/model-words.ts'

const model = {
  provider: 'main',
  providerType: 'openai_compatible',
  providerDisplayName: 'Local models',
  name: 'small',
  displayName: 'Small model',
  contextTokens: 8000,
  takesImages: false,
  isDefault: true,
}

test('the built-in model is named as what it is', () => {
  const words = modelWords([{ ...model, providerType: 'extractive', displayName: 'Built-in extractive model' }])
  expect(words).toBe('Built-in extractive model: quotes your documents; no AI provider configured')
})

test('another model is named with its provider', () => {
  expect(modelWords([{ ...model, isDefault: false, displayName: 'Other' }, model])).toBe('Small model (Local models)')
})
