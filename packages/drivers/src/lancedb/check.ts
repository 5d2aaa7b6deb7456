/** A program that reads an index through and says what it is: the engine may abort it. */
import { readThrough } from './condition.ts'
import { folderLocation } from './folder-location.ts'
import type { Space } from '../hybrid-search/open-state.ts'

// As `readThroughApart` writes it.
const { folder, space } = JSON.parse(process.argv[2]!) as { folder: string; space?: Space }
process.stdout.write(await readThrough(folderLocation(folder), space))
