import type { ModelListing } from '@inlay/agent'

/** Describes the default model. */
export function modelWords(models: readonly ModelListing[]): string {
  const model = models.find(({ isDefault }) => isDefault) ?? models[0]
  if (model === undefined) return 'none configured'
  if (model.providerType === 'extractive')
    return `${model.displayName}: quotes your documents; no AI provider configured`
  return `${model.displayName} (${model.providerDisplayName})`
}
