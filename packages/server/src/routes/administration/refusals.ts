import { InlayError, scopes } from '@inlay/protocol'
import { routesOf, type Method, type Route } from '../../http/route.ts'

const noAccounts =
  'There are no accounts, passwords or sign-ins here: callers use an API key, or the host app ' + 'identifies them.'
const noTokens = 'There are no personal access tokens here: ask an administrator for an API key.'
const noGroups = 'Groups are plain names here, assigned to keys and people by the host app: they cannot be listed.'
const noEnterprise = 'This feature is not supported.'
const readThenOpen =
  'Searching the web and reading every result in one call is not supported: call POST /web-search/search-lite, then POST /web-search/open-urls.'

/** Unsupported routes of existing clients, each refused with a reason instead of a bare 404. */
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
  ...refusals('any key', readThenOpen, [['POST', '/web-search/search', 'webSearch']]),
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
