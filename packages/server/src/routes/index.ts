import type { Route } from '../http/route.ts'
import { catalogRoutes } from './chat/catalog.ts'
import { runningAnswerRoutes } from './chat/running-answers.ts'
import { sendMessageRoutes } from './chat/send-message.ts'
import { documentationRoutes } from './service/documentation.ts'
import { widgetRoutes } from './service/widget.ts'
import { documentSetRoutes } from './knowledge/document-sets.ts'
import { fileRoutes } from './chat/files.ts'
import { documentChunkRoutes } from './knowledge/document-chunks.ts'
import { filterValueRoutes } from './knowledge/filter-values.ts'
import { ingestionRoutes } from './knowledge/ingestion.ts'
import { ingestionFileRoutes } from './knowledge/ingestion-file.ts'
import { ingestionBatchRoutes } from './knowledge/ingestion-batch.ts'
import { ingestionQueueRoutes } from './knowledge/ingestion-queue.ts'
import { keyRoutes } from './service/keys.ts'
import { mcpRoutes } from './service/mcp.ts'
import { memoryRoutes } from './chat/memories.ts'
import { pairRoutes } from './knowledge/pairs.ts'
import { outsideChatRoutes } from './chat/outside-chats.ts'
import { personaRoutes } from './chat/personas.ts'
import { projectRoutes } from './chat/projects.ts'
import { searchRoutes } from './knowledge/search.ts'
import { serviceRoutes } from './service/health-version-me.ts'
import { sessionRoutes } from './chat/sessions.ts'
import { sessionSettingRoutes } from './chat/session-settings.ts'
import { toolRoutes } from './chat/tools.ts'

import { auditRoutes } from './administration/audit.ts'
import { agentAdministrationRoutes } from './administration/agents.ts'
import { connectorRoutes } from './administration/connectors.ts'
import { existingClientRoutes } from './administration/existing-clients.ts'
import { holdRoutes } from './administration/holds.ts'
import { labelRoutes } from './administration/labels.ts'
import { limitRoutes } from './administration/limits.ts'
import { mcpServerRoutes } from './administration/mcp-servers.ts'
import { modelAdministrationRoutes } from './administration/models.ts'
import { pairStatusRoutes } from './administration/pair-status.ts'
import { preferenceRoutes } from './administration/preferences.ts'
import { toolTestRoutes } from './administration/tool-tests.ts'
import { usageRoutes } from './administration/usage.ts'
import { refusalRoutes } from './administration/refusals.ts'
import { workspaceRoutes } from './administration/settings.ts'

/** All routes of the server. The router and the OpenAPI document are both built from this table. */
export const routes: readonly Route[] = [
  ...sendMessageRoutes,
  ...runningAnswerRoutes,
  ...sessionRoutes,
  ...sessionSettingRoutes,
  ...fileRoutes,
  ...projectRoutes,
  ...memoryRoutes,
  ...personaRoutes,
  ...ingestionRoutes,
  ...ingestionBatchRoutes,
  ...ingestionFileRoutes,
  ...ingestionQueueRoutes,
  ...pairRoutes,
  ...documentSetRoutes,
  ...searchRoutes,
  ...filterValueRoutes,
  ...documentChunkRoutes,
  ...toolRoutes,
  ...outsideChatRoutes,
  ...catalogRoutes,
  ...mcpRoutes,
  ...labelRoutes,
  ...agentAdministrationRoutes,
  ...modelAdministrationRoutes,
  ...mcpServerRoutes,
  ...connectorRoutes,
  ...pairStatusRoutes,
  ...workspaceRoutes,
  ...preferenceRoutes,
  ...existingClientRoutes,
  ...keyRoutes,
  ...limitRoutes,
  ...holdRoutes,
  ...auditRoutes,
  ...usageRoutes,
  ...toolTestRoutes,
  ...serviceRoutes,
  ...documentationRoutes,
  ...widgetRoutes,
  ...refusalRoutes,
]
