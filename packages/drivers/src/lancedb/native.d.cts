import type * as lancedb from '@lancedb/lancedb'
import type * as arrow from 'apache-arrow'

declare const native: { readonly lancedb: typeof lancedb; readonly arrow: typeof arrow }
export = native
