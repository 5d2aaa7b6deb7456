/** A program that reads a whole index and prints its state, in a separate process because the engine may abort it. */
import { readThrough } from './condition.ts'
import { folderLocation } from './folder-location.ts'
import type { Space } from '../hybrid-search/open-state.ts'

// Passed by `readThroughApart`.
const { folder, space } = JSON.parse(process.argv[2]!) as { folder: string; space?: Space }
process.stdout.write(await readThrough(folderLocation(folder), space))
