import * as v from 'valibot'
import type { Method, Route } from './route.ts'

/** What answers a method at an address. */
export interface AddressedRoute {
  readonly route: Route
  /** Values of path segments that are fixed in the address and variable in the route's own path. */
  readonly fixed: Readonly<Record<string, string>>
}

/**
 * The routes by address and method. An address with a fixed segment, such as `/ingestion/batch`, also answers the
 * methods of a route with a variable there, `/ingestion/{document_id}`, if the variable may have that value.
 */
export function toAddresses(routes: readonly Route[]): Map<string, Map<Method, AddressedRoute>> {
  const addresses = new Map<string, Map<Method, AddressedRoute>>()
  for (const route of routes) {
    for (const path of pathsOf(route)) {
      const methods = addresses.get(path) ?? new Map<Method, AddressedRoute>()
      addresses.set(path, methods.set(route.method, { route, fixed: {} }))
    }
  }
  for (const [address, methods] of addresses) {
    for (const route of routes) {
      if (methods.has(route.method)) continue
      const fixed = pathsOf(route).map((path) => fixedValues(address, path))
      const fitting = fixed.find((values) => values !== undefined && fits(route, values))
      if (fitting !== undefined) methods.set(route.method, { route, fixed: fitting })
    }
  }
  return addresses
}

function pathsOf(route: Route): readonly string[] {
  return [route.path, ...(route.aliases ?? [])]
}

/** The segments of an address that are variable in a more general path; undefined when that path does not cover it. */
function fixedValues(address: string, path: string): Record<string, string> | undefined {
  const own = address.split('/')
  const general = path.split('/')
  if (own.length !== general.length) return undefined
  const fixed: Record<string, string> = {}
  for (const [index, segment] of own.entries()) {
    const variable = /^\{(\w+)\}$/.exec(general[index] ?? '')?.[1]
    if (variable !== undefined && !segment.startsWith('{')) fixed[variable] = segment
    else if (segment !== general[index]) return undefined
  }
  return fixed
}

function fits(route: Route, values: Readonly<Record<string, string>>): boolean {
  const schema = route.input?.path
  if (schema === undefined || !('entries' in schema)) return false
  // Path schemas are objects: `routesOf` says so.
  const entries = schema.entries as Readonly<Record<string, v.GenericSchema>>
  return Object.entries(values).every(([name, value]) => entries[name] !== undefined && v.is(entries[name], value))
}
