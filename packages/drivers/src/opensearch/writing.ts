import { setTimeout as delay } from 'node:timers/promises'
import { refusalOf, unavailable, type Cluster } from './transport.ts'

/** An action and its row, in the format of the bulk API. */
export type BulkLines = readonly [Record<string, unknown>, Record<string, unknown>]

const batchChars = 4 * 2 ** 20
const batchRows = 1_000
/** A busy cluster refuses individual rows; these are the pauses before each retry, 30 s in total. */
const breaksMs = [100, 300, 1_000, 3_000, 8_000, 18_000]

/**
 * All become visible together. @throws SERVICE_UNAVAILABLE if the cluster stays busy or refuses a row; some are written
 * then
 */
export async function writeRows(cluster: Cluster, name: string, rows: readonly BulkLines[]): Promise<void> {
  for (const batch of batchesOf(rows)) {
    let left: readonly BulkLines[] = batch
    for (let tries = 0; left.length > 0; tries++) {
      if (tries > 0) await pause(tries)
      left = await writeBatch(cluster, name, left)
    }
  }
  await cluster({ path: `/${name}/_refresh` })
}

async function pause(tries: number): Promise<void> {
  const breakMs = breaksMs[tries - 1]
  if (breakMs === undefined) throw unavailable('The search cluster is too busy to accept rows.', true)
  await delay(breakMs * (0.8 + 0.4 * Math.random()))
}

/** @returns rows that the cluster was too busy for */
async function writeBatch(cluster: Cluster, name: string, batch: readonly BulkLines[]): Promise<readonly BulkLines[]> {
  const { body } = await cluster({ path: `/${name}/_bulk`, body: batch.flat() })
  if (body['errors'] !== true) return []
  // One per row, in order, as documented by OpenSearch.
  const items = body['items'] as { index?: { status: number; error?: unknown } }[]
  const refused = items.find(({ index }) => index !== undefined && index.status >= 400 && !isBusy(index.status))
  if (refused?.index) throw refusalOf({ status: refused.index.status, body: { ...refused.index } })
  return batch.filter((_, at) => isBusy(items[at]?.index?.status ?? 200))
}

const isBusy = (status: number): boolean => status === 429 || status === 503

function batchesOf(rows: readonly BulkLines[]): BulkLines[][] {
  const batches: BulkLines[][] = []
  let chars = Infinity
  for (const row of rows) {
    const size = sizeOf(row)
    const last = batches.at(-1)
    if (!last || last.length >= batchRows || chars + size > batchChars) {
      batches.push([row])
      chars = size
    } else {
      last.push(row)
      chars += size
    }
  }
  return batches
}

/** An estimate, to avoid converting each row to JSON twice. */
function sizeOf([, row]: BulkLines): number {
  const { text, searchText, chunkMetadata, vector } = row
  const chars = [text, searchText, chunkMetadata].reduce<number>((sum, value) => sum + String(value).length, 500)
  return chars + (Array.isArray(vector) ? vector.length * 20 : 0)
}
