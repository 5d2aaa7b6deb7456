/** Reads the index as the engine would whose abort it imitates. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const { folder } = JSON.parse(process.argv[2]!) as { folder: string }
if (existsSync(join(folder, 'chunks.lance', 'deadly'))) process.abort()
process.stdout.write('present')
