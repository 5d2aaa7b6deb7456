import type { Route } from './route.ts'
import { catalogRoutes } from './routes/catalog.ts'
import { chatRoutes } from './routes/chat.ts'
import { documentationRoutes } from './routes/documentation.ts'
import { documentSetRoutes } from './routes/document-sets.ts'
import { fileRoutes } from './routes/files.ts'
import { filterValueRoutes } from './routes/filter-values.ts'
import { ingestionRoutes } from './routes/ingestion.ts'
import { ingestionBatchRoutes } from './routes/ingestion-batch.ts'
import { ingestionQueueRoutes } from './routes/ingestion-queue.ts'
import { keyRoutes } from './routes/keys.ts'
import { mcpRoutes } from './routes/mcp.ts'
import { memoryRoutes } from './routes/memories.ts'
import { pairRoutes } from './routes/pairs.ts'
import { personaRoutes } from './routes/personas.ts'
import { projectRoutes } from './routes/projects.ts'
import { searchRoutes } from './routes/search.ts'
import { serviceRoutes } from './routes/service.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { sessionSettingRoutes } from './routes/session-settings.ts'
import { toolRoutes } from './routes/tools.ts'

/** Every address the server answers: the router and the OpenAPI document are both made from this table. */
export const routes: readonly Route[] = [
  ...chatRoutes,
  ...sessionRoutes,
  ...sessionSettingRoutes,
  ...fileRoutes,
  ...projectRoutes,
  ...memoryRoutes,
  ...personaRoutes,
  ...ingestionRoutes,
  ...ingestionBatchRoutes,
  ...ingestionQueueRoutes,
  ...pairRoutes,
  ...documentSetRoutes,
  ...searchRoutes,
  ...filterValueRoutes,
  ...toolRoutes,
  ...catalogRoutes,
  ...mcpRoutes,
  ...keyRoutes,
  ...serviceRoutes,
  ...documentationRoutes,
]
