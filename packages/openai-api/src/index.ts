/** OpenAI's API over the parts of a server: the routes below `/v1`, and their errors. */
import type { MountedApi } from '@inlay/server'
import { toErrorReply } from './errors.ts'
import { modelRoutes } from './models.ts'

/** For `createServer({ openaiApi: async () => openaiApi })`. */
export const openaiApi: MountedApi = { routes: [...modelRoutes], toErrorReply }
