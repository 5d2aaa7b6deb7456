import * as v from 'valibot'
import type { Method, Route } from './route.ts'

/** A route as served at one address. */
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

/** Parameters of a more general path that match an address; undefined when the path does not cover it. */
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
  // `routesOf` guarantees that path schemas are objects.
  const entries = schema.entries as Readonly<Record<string, v.GenericSchema>>
  return Object.entries(values).every(([name, value]) => entries[name] !== undefined && v.is(entries[name], value))
}
