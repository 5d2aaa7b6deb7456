/**
 * Finds folders of a package that import each other in a circle.
 *
 *   node test/package/folder-graph.ts [package]
 *
 * In each folder its files and subfolders are the nodes; an import anywhere below one of them, types included, is an
 * arrow from it to the node it leads into. Nodes that reach each other are a knot.
 */
import { readdirSync } from 'node:fs'
import { readSources } from './sources.ts'

/** Nodes of one folder that reach each other. */
export interface Knot {
  readonly folder: string
  readonly nodes: readonly string[]
  /** Imports between them as `from → to`, with the files that make each. */
  readonly arrows: ReadonlyMap<string, readonly string[]>
}

/** Imports between the nodes of one folder: from, to, files. */
type Graph = Map<string, Map<string, string[]>>

/** All knots of a package, outermost folders first. */
export function findKnots(name: string): Knot[] {
  const graphs = new Map<string, Graph>()
  for (const { file, imports } of readSources(`packages/${name}/src/**/*.ts`))
    for (const target of imports) if (target.startsWith(`packages/${name}/src/`)) addArrow(graphs, file, target)
  return [...graphs].toSorted(([left], [right]) => left.length - right.length).flatMap(toKnots)
}

function addArrow(graphs: Map<string, Graph>, file: string, target: string): void {
  const [from, to] = [file.split('/'), target.split('/')]
  const depth = from.findIndex((part, index) => part !== to[index])
  const [start, end] = [from[depth], to[depth]]
  if (start === undefined || end === undefined) return
  const folder = from.slice(0, depth).join('/')
  const graph = graphs.get(folder) ?? new Map()
  const arrows = graph.get(start) ?? new Map()
  arrows.set(end, [...(arrows.get(end) ?? []), `${from.slice(depth).join('/')} → ${to.slice(depth).join('/')}`])
  graphs.set(folder, graph.set(start, arrows))
}

function toKnots([folder, graph]: readonly [string, Graph]): Knot[] {
  const reached = new Map([...graph.keys()].map((node) => [node, reach(graph, node)]))
  const knots = new Map<string, string[]>()
  for (const [node, nodes] of reached) {
    if (!nodes.has(node)) continue
    const knot = [...nodes].filter((other) => reached.get(other)?.has(node)).toSorted()
    knots.set(knot.join(), knot)
  }
  return [...knots.values()].map((nodes) => ({ folder, nodes, arrows: arrowsBetween(graph, nodes) }))
}

function reach(graph: Graph, start: string): Set<string> {
  const seen = new Set<string>()
  const open = [start]
  for (let node = open.pop(); node !== undefined; node = open.pop())
    for (const next of graph.get(node)?.keys() ?? [])
      if (!seen.has(next)) {
        seen.add(next)
        open.push(next)
      }
  return seen
}

const arrowsBetween = (graph: Graph, nodes: readonly string[]): Map<string, string[]> =>
  new Map(
    nodes.flatMap((from) =>
      nodes.flatMap((to) => {
        const files = graph.get(from)?.get(to)
        return files === undefined ? [] : [[`${from} → ${to}`, files] as const]
      }),
    ),
  )

if (import.meta.main) {
  const names = process.argv.length > 2 ? process.argv.slice(2) : readdirSync('packages')
  for (const { folder, nodes, arrows } of names.flatMap(findKnots)) {
    console.log(`${folder}: ${nodes.join(', ')}`)
    for (const [arrow, files] of [...arrows].toSorted(([, left], [, right]) => left.length - right.length))
      console.log(
        `  ${arrow} (${files.length})${files
          .slice(0, 3)
          .map((file) => `\n      ${file}`)
          .join('')}`,
      )
  }
}
