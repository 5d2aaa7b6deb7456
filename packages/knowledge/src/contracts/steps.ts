/**
 * Named steps of the ingestion of a document. Each is reached just before the step takes effect; `prune` lies between
 * removing rows from the index and deleting the record that they were to be removed. Tests stop or kill the process at
 * these steps.
 */
export type IngestionStep = 'accept' | 'claim' | 'chunk' | 'embed' | 'append' | 'settle' | 'prune'
