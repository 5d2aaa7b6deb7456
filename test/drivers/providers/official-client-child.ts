import type { ProviderName } from '../../stand-in/providers/index.ts'
import { converse } from './official-clients.ts'

process.stdout.write(JSON.stringify(await converse(process.argv[2] as ProviderName)))
