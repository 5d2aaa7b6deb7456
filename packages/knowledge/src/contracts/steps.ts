/**
 * Labelled steps of a document's way. Each is reached just before the step takes effect, `prune` between removing
 * rows from the index and forgetting that they were to be removed. Tests stop or kill there.
 */
export type IngestionStep = 'accept' | 'claim' | 'chunk' | 'embed' | 'append' | 'settle' | 'prune'
