import { InlayError, scopes } from '@inlay/protocol'
import { routesOf, type Method, type Route } from '../../http/route.ts'

const noAccounts =
  'There are no accounts, passwords or sign-ins here: callers have an API key, or the host app tells who they are.'
const noTokens = 'There are no personal access tokens here: ask an administrator for an API key.'
const noGroups = 'Groups are names here, given to keys and to people by the host app: there is no list of them.'
const noEnterprise = 'This belongs to an edition that is not offered here.'
const modelsBySettings = 'Models are not set over the API here: the deployment names them in INLAY_MODELS.'
const noPictures = 'Agents have no pictures of their own here: choose an icon_name.'

const byChat = 'This is done in chats here: send a message to an agent that may use the action.'
const noUsageOfOne = 'What a person has used is not told here; administrators read GET /admin/limits.'
const noSearchHistory = 'Searches are not kept here.'
const noTransfer = 'Agents keep their owner here: make a copy of the agent, or share it.'
const noOwnShares = 'Shares are changed by the owner of an agent here.'
const noMcpSignIn = 'MCP servers are signed in to by the deployment here, not by people.'
const noSizes =
  'Sizes of documents are not told here: GET /service-api/ingestion/{document_id} tells the number of chunks.'

/** Calls of existing clients that are not offered, each refused with the reason instead of a bare 404. */
export const refusalRoutes: readonly Route[] = [
  ...refusals('public', noAccounts, [
    ['POST', '/auth/register', 'register'],
    ['POST', '/auth/login', 'login'],
    ['POST', '/auth/logout', 'logout'],
  ]),
  ...refusals('any key', noTokens, [
    ['GET', '/user/pats', 'listTokens'],
    ['POST', '/user/pats', 'createToken'],
    ['GET', '/user/pats/scopes', 'listTokenScopes'],
    ['DELETE', '/user/pats/{token_id}', 'deleteToken'],
  ]),
  ...refusals('any key', noEnterprise, [
    ['GET', '/enterprise-settings', 'enterpriseSettings'],
    ['POST', '/search/send-search-message', 'sendSearchMessage'],
  ]),
  ...refusals('any key', noGroups, [
    ['GET', '/manage/admin/user-group', 'listGroups'],
    ['POST', '/manage/admin/user-group', 'createGroup'],
  ]),
  ...refusals('any key', modelsBySettings, [
    ['PUT', '/admin/llm/provider', 'putModelProvider'],
    ['DELETE', '/admin/llm/provider/{provider_id}', 'deleteModelProvider'],
    ['POST', '/admin/llm/default', 'setDefaultModel'],
  ]),
  ...refusals('any key', noPictures, [
    ['POST', '/admin/persona/upload-image', 'uploadPersonaImage'],
    ['POST', '/persona/upload-image', 'uploadOwnPersonaImage'],
  ]),
  ...refusals('any key', byChat, [
    ['POST', '/web-search/search', 'webSearch'],
    ['POST', '/web-search/search-lite', 'webSearchLite'],
    ['POST', '/web-search/open-urls', 'openUrls'],
    ['POST', '/image-generation/generate', 'generateImage'],
  ]),
  ...refusals('any key', noUsageOfOne, [['GET', '/user/usage', 'userUsage']]),
  ...refusals('any key', noSearchHistory, [['GET', '/search/search-history', 'searchHistory']]),
  ...refusals('any key', noTransfer, [['POST', '/persona/{persona_id}/transfer-ownership', 'transferPersona']]),
  ...refusals('any key', noOwnShares, [['DELETE', '/persona/{persona_id}/share/me', 'leavePersona']]),
  ...refusals('any key', noMcpSignIn, [['POST', '/mcp/user-credentials', 'setMcpCredentials']]),
  ...refusals('any key', noSizes, [['GET', '/document/document-size-info', 'documentSizeInfo']]),
]

function refusals(
  who: 'public' | 'any key',
  reason: string,
  calls: readonly (readonly [method: Method, path: `/${string}`, operationId: string])[],
): Route[] {
  const route =
    who === 'public'
      ? routesOf('Not offered', { scope: 'public', owner: 'none' })
      : routesOf('Not offered', { scope: scopes, owner: 'none' })
  return calls.map(([method, path, operationId]) =>
    route(`${method} ${path}`, operationId, 'Not offered', {
      description: reason,
      errors: ['DEPLOYMENT_UNSUPPORTED'],
      handle() {
        throw new InlayError('DEPLOYMENT_UNSUPPORTED', { message: reason })
      },
    }),
  )
}
