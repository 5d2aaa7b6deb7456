import type { SendMessageInput } from '../chat/send-message.ts'
import type { SearchInput } from '../chat/search.ts'
import type { IngestionInput } from '../ingestion/ingestion-document.ts'

const message: SendMessageInput = {
  message: 'When is the laboratory open?',
  internal_search_filters: { document_set: ['Handbook'] },
  stream: false,
}

const ingestion: IngestionInput = {
  document: {
    id: 'handbook/lab-access',
    semantic_identifier: 'Access to the laboratory',
    sections: [{ text: 'The laboratory is open from 7:00 to 19:00.', link: 'https://lab.example/handbook/access' }],
    source: 'web',
    metadata: { area: 'safety', tags: ['doors', 'hours'] },
    doc_updated_at: '2026-02-03T08:00:00Z',
  },
  cc_pair_id: 1,
}

const search: SearchInput = { query: 'laboratory opening hours', sources: ['web'] }

const session = '6f1c2f4e-5a0b-4c53-9a3e-0b8f2f1f7c11'
const definition = {
  openapi: '3.1.0',
  info: { title: 'Bookings', version: '1', description: 'Bookings of rooms.' },
  servers: [{ url: 'https://bookings.example' }],
  paths: {
    '/rooms/{room}': {
      get: {
        operationId: 'findBooking',
        summary: 'Who booked a room',
        parameters: [{ name: 'room', in: 'path', required: true, schema: { type: 'string' } }],
        responses: { '200': { description: 'The booking.' } },
      },
    },
  },
}

/** One example body per request schema, by schema name. */
export const requestExamples: Readonly<Record<string, unknown>> = {
  SendMessageRequest: message,
  IngestionRequest: ingestion,
  SearchRequest: search,
  ChatSessionCreationRequest: { persona_id: 0, description: 'Opening hours' },
  ChatSessionRename: { chat_session_id: session, name: 'Opening hours' },
  ChatSessionUpdate: { sharing_status: 'public' },
  BranchSelection: { message_id: 7 },
  PreferredResponse: { user_message_id: 6, preferred_response_id: 7 },
  FeedbackRequest: { chat_message_id: 7, is_positive: true, feedback_text: 'That is what I was looking for.' },
  SessionModel: { chat_session_id: session, new_alternate_model: 'openai__openai__gpt-5' },
  SessionPin: { pinned: true },
  SessionTemperature: { chat_session_id: session, temperature_override: 0.2 },
  SessionReasoning: { chat_session_id: session, reasoning_effort_override: 'high' },
  FileStatusesRequest: { file_ids: ['5f1c6f2e-0b8e-4a39-9d0a-6f5b3b1f8a10'] },
  ProjectUpdate: { name: 'New laboratory', description: 'Everything about the move.' },
  ProjectInstructions: { instructions: 'Answer in one sentence.' },
  SessionMove: { chat_session_id: session },
  PersonalizationUpdate: { name: 'Mira', role: 'Optics group', use_memories: true },
  MemoryText: { content: 'Works in the optics group.' },
  PersonaCreation: {
    name: 'Safety desk',
    description: 'Answers from the handbook.',
    document_set_ids: [1],
    tool_ids: [1],
    system_prompt: 'Answer from the handbook alone.',
    task_prompt: '',
    datetime_aware: true,
    is_public: false,
  },
  PersonaUpdate: { description: 'Answers from the handbook and the minutes.' },
  PairCreation: { name: 'Wiki', access_type: 'private', groups: ['optics'] },
  PairUpdate: { is_paused: true },
  DocumentChange: { metadata: { department: 'People', draft: null }, cc_pair_ids: [3] },
  DocumentSetCreation: { name: 'Handbook', description: 'Rules of the house.', cc_pair_ids: [1], is_public: true },
  DocumentSetUpdate: { cc_pair_ids: [1, 2] },
  NamedDocumentSetUpdate: { id: 1, cc_pair_ids: [1, 2] },
  PersonaSharing: { user_ids: ['6f1c2f4e-5a0b-4c53-9a3e-0b8f2f1f7c11'], is_public: false },
  ConnectorCreation: {
    name: 'Handbook',
    source: 'file',
    input_type: 'load_state',
    connector_specific_config: { file_locations: [], file_names: [] },
    access_type: 'public',
  },
  CredentialCreation: { credential_json: {}, admin_public: true, source: 'file' },
  PairLink: { name: 'Handbook', access_type: 'public' },
  IndexingStatusQuery: { source: 'file', get_all_connectors: true },
  LimitChange: { callers: { requests_per_minute: 60 } },
  CustomTool: { name: 'Bookings', description: 'Finds bookings.', definition, passthrough_auth: false },
  CustomToolUpdate: { description: 'Finds bookings of rooms.' },
  ToolValidation: { definition },
  ToolTestRequest: { name: 'getDog', arguments: { id: 7 } },
  ModelTestRequest: { model_provider: 'openai', model_version: 'gpt-5.4-mini' },
  McpServerChange: {
    name: 'wiki',
    server_url: 'https://wiki.example/mcp',
    auth_type: 'API_TOKEN',
    api_token: 'a-token',
  },
  McpSignInBeginning: { redirect_url: 'https://app.example/inlay/' },
  McpSignInEnd: { query: 'code=of-the-server&state=of-the-sign-in' },
  ModelProviderChange: {
    name: 'DeepSeek',
    provider: 'deepseek',
    api_key: 'sk-your-key',
    api_key_changed: true,
    model_configurations: [{ name: 'deepseek-chat', is_visible: true }],
  },
  DefaultModelChange: { provider_id: 1000001, model_name: 'deepseek-chat' },
  ToolStatusUpdate: { tool_ids: [1], enabled: true },
  ApiKeyCreation: { name: 'Importer', scopes: ['ingest'] },
  ApiKeyUpdate: { name: 'Nightly importer' },
  ReindexRequest: { change_embedder: true },
  NewHold: { person: 'ann@example.com', reason: 'Case 7' },
  McpMessage: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
}

/** Example bodies for unnamed schemas, by operation. */
export const operationExamples: Readonly<Record<string, unknown>> = {
  'POST /persona/labels': { name: 'Safety' },
  'PATCH /admin/persona/label/{label_id}': { label_name: 'Security' },
  'PATCH /admin/persona/{persona_id}/listed': { is_listed: true },
  'PATCH /admin/persona/{persona_id}/featured': { is_featured: true },
  'PATCH /persona/{persona_id}/public': { is_public: true },
  'PATCH /admin/agents/display-priorities': { display_priority_map: { '1': 0 } },
  'PUT /admin/local-models': { choice: { base_url: 'http://127.0.0.1:11434/v1', model: 'llama3' } },
  'POST /manage/admin/connector/run-once': { connector_id: 1, credential_ids: [1], from_beginning: false },
  'POST /manage/admin/deletion-attempt': { connector_id: 1, credential_id: 1 },
  'PUT /manage/admin/cc-pair/{cc_pair_id}/status': { status: 'PAUSED' },
  'PATCH /admin/settings': { company_name: 'Laboratory of optics', auto_scroll: true },
  'PATCH /user/assistant/{persona_id}/preferences': { disabled_tool_ids: [2] },
  'PATCH /user/pinned-assistants': { ordered_assistant_ids: [1, 2] },
  'PATCH /user/default-model': { default_model: 'extractive' },
  'PATCH /user/theme-preference': { theme_preference: 'dark' },
  'PATCH /auto-scroll': { auto_scroll: true },
  'PATCH /user/language': { language: 'de' },
  'PATCH /user/chat-background': { chat_background: 'lake' },
  'PATCH /user/default-app-mode': { default_app_mode: 'CHAT' },
  'PATCH /voice/settings': { auto_send: false, playback_speed: 1.25 },
  'POST /input_prompt': { prompt: 'summary', content: 'Sum this up in three sentences.', is_public: false },
  'PATCH /input_prompt/{prompt_id}': { prompt: 'summary', content: 'Sum this up in one sentence.', active: true },
  'POST /admin/search': { query: 'opening hours of the laboratory' },
  'POST /web-search/search-lite': { queries: ['opening hours of the museum'], max_results: 5 },
  'POST /web-search/open-urls': { urls: ['https://example.com/opening-hours'] },
  'POST /image-generation/generate': { prompt: 'A heron at dawn, water colours', shape: 'landscape', n: 1 },
  'POST /persona/{persona_id}/transfer-ownership': { new_owner_user_id: '5b2f8a8e-3c1d-4f5e-9a67-0d6c1e2b7f40' },
  'POST /mcp/user-credentials': { server_id: 1, credentials: { api_key: 'a-key' }, transport: 'streamable-http' },
}
