/** OpenAI's API over the parts of a server: the routes below `/v1`, and their errors. */
import type { MountedApi } from '@inlay/server'
import { chatRoutes } from './chat-completions.ts'
import { conversationRoutes } from './conversations.ts'
import { embeddingRoutes } from './embeddings.ts'
import { toErrorReply } from './errors.ts'
import { fileRoutes } from './files.ts'
import { missingAddress } from './missing.ts'
import { modelRoutes } from './models.ts'
import { referenceRoutes } from './reference.ts'
import { responseRoutes } from './responses.ts'
import { vectorStoreBatchRoutes } from './vector-store-batches.ts'
import { vectorStoreFileRoutes } from './vector-store-files.ts'
import { vectorStoreSearchRoutes } from './vector-store-search.ts'
import { vectorStoreRoutes } from './vector-stores.ts'

/** For `createServer({ openaiApi: async () => openaiApi })`. */
export const openaiApi: MountedApi = {
  routes: [
    ...modelRoutes,
    ...chatRoutes,
    ...embeddingRoutes,
    ...responseRoutes,
    ...conversationRoutes,
    ...fileRoutes,
    ...vectorStoreRoutes,
    ...vectorStoreFileRoutes,
    ...vectorStoreBatchRoutes,
    ...vectorStoreSearchRoutes,
    ...referenceRoutes,
  ],
  toErrorReply,
  missing: missingAddress,
}
