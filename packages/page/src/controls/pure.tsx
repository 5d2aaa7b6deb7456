import { Component, type ComponentType } from 'preact'

/** A component that is rendered again only if one of its props has changed. */
export function pure<Props extends object>(View: ComponentType<Props>): ComponentType<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      return Object.entries(next).some(([name, value]) => Reflect.get(this.props, name) !== value)
    }

    override render() {
      return <View {...this.props} />
    }
  }
}
