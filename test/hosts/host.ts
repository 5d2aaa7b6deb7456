/** An app of a framework into which Inlay is mounted as the docs say. */
export interface Host {
  /** Its name on the command line and in the table. */
  readonly name: string
  /** Heading of its recipe in the docs. */
  readonly section: string
  /** Which files of the recipe it takes. Default: all. */
  readonly takes?: readonly string[]
  /** Path of the shared file of the docs. Default `inlay.ts`. */
  readonly inlayFile?: string
  readonly dependencies?: Readonly<Record<string, string>>
  /** Body of `readSession` in the shared file. Default: it knows the user by a cookie. */
  readonly signIn?: string
  /** Files of an app of this kind before the recipe, by path. */
  readonly files?: Readonly<Record<string, string>>
  /** Stands for the comment "your own routes" of the recipe. Default: the app has them in its files. */
  readonly ownRoutes?: string
  /** Changes code of the recipe as its text says. */
  readonly edit?: (code: string) => string
  /** Commands that build it, each with its arguments. Default: it needs no build. */
  readonly builds?: readonly (readonly string[])[]
  /** Path of the program and its arguments. */
  start(port: number): readonly string[]
  readonly env?: (port: number) => Readonly<Record<string, string>>
  /** Whether programs have to name the address of the site as `Origin`, as the docs say. Default false. */
  readonly needsOrigin?: boolean
}
