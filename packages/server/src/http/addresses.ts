import * as v from 'valibot'
import type { Method, Route } from './route.ts'

export interface AddressedRoute {
  readonly route: Route
  /** Values of path parameters that are fixed segments of this address. */
  readonly fixed: Readonly<Record<string, string>>
}

/**
 * Routes by address and method. An address with a fixed segment, such as `/ingestion/batch`, also serves the methods of
 * a route with a parameter there, `/ingestion/{document_id}`, if the parameter accepts that value.
 */
export function toAddresses(routes: readonly Route[]): Map<string, Map<Method, AddressedRoute>> {
  const addresses = new Map<string, Map<Method, AddressedRoute>>()
  // By the number of their segments: comparing each address with each route took 65 ms of the start.
  const generalPaths = new Map<number, { readonly route: Route; readonly segments: readonly string[] }[]>()
  for (const route of routes) {
    for (const path of [route.path, ...(route.aliases ?? [])]) {
      const methods = addresses.get(path) ?? new Map<Method, AddressedRoute>()
      addresses.set(path, methods.set(route.method, { route, fixed: {} }))
      const segments = path.split('/')
      if (!segments.some(isVariable)) continue
      const sameLength = generalPaths.get(segments.length) ?? []
      generalPaths.set(segments.length, sameLength)
      sameLength.push({ route, segments })
    }
  }
  for (const [address, methods] of addresses) {
    const own = address.split('/')
    for (const { route, segments } of generalPaths.get(own.length) ?? []) {
      if (methods.has(route.method)) continue
      const fixed = fixedValues(own, segments)
      if (fixed !== undefined && fits(route, fixed)) methods.set(route.method, { route, fixed })
    }
  }
  return addresses
}

const isVariable = (segment: string): boolean => segment.startsWith('{')

/** Parameters of a more general path that match an address; undefined when the path does not cover it. */
function fixedValues(own: readonly string[], general: readonly string[]): Record<string, string> | undefined {
  const isCovered = own.every(
    (segment, at) => segment === general[at] || (isVariable(general[at]!) && !isVariable(segment)),
  )
  if (!isCovered) return undefined
  const variables = own.flatMap((segment, at) =>
    segment === general[at] ? [] : [[general[at]!.slice(1, -1), segment]],
  )
  return Object.fromEntries(variables)
}

function fits(route: Route, values: Readonly<Record<string, string>>): boolean {
  const schema = route.input?.path
  if (schema === undefined || !('entries' in schema)) return false
  // `routesOf` guarantees that path schemas are objects.
  const entries = schema.entries as Readonly<Record<string, v.GenericSchema>>
  return Object.entries(values).every(([name, value]) => entries[name] !== undefined && v.is(entries[name], value))
}
